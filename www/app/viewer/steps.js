/**
 * The steps of the browser's history, which the viewer makes itself.
 *
 * Steps of a frame are lost when the tab is reloaded, and Back then does nothing. So `page.js` has a page that follows a
 * link take the place of the one before, and the viewer makes the step; with it goes what the browser would have kept,
 * how far a page was scrolled.
 */

const positionsMax = 200;

export function createSteps() {
    const positions = new Map();
    let count = Date.now();

    return {
        /**
         * @param {string} address of what is shown now
         * @param {import("./navigation.js").Step} step
         */
        make(address, step) {
            const isNew = step === "push" && new URL(address, location).href !== location.href;
            if (isNew) count += 1;
            const state = { replayhost: "page", step: isNew ? count : history.state?.step ?? count };
            history[isNew ? "pushState" : "replaceState"](state, "", address);
        },

        /** @param {{x: number, y: number}} position how far the page of this step is scrolled, in CSS pixels */
        keepPosition(position) {
            const step = history.state?.step;
            if (step === undefined) return;
            positions.delete(step);
            positions.set(step, position);
            if (positions.size > positionsMax) positions.delete(positions.keys().next().value);
        },

        /** @returns {{x: number, y: number}|undefined} */
        get position() {
            return positions.get(history.state?.step);
        },
    };
}
