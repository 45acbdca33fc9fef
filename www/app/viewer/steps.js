/**
 * The entries of the browser's history, which the viewer makes itself.
 *
 * A frame's own entries are lost when the tab is reloaded, and Back then does nothing. So `page.js` has each page replace
 * the previous one, and the viewer adds the entry. It also restores the scroll position, which the browser no longer does.
 */

const positionsMax = 200;

export function createSteps() {
    const positions = new Map();
    let count = Date.now();

    return {
        /**
         * @param {string} address the app's URL for what is shown
         * @param {import("./navigation.js").Step} step
         */
        make(address, step) {
            const isNew = step === "push" && new URL(address, location).href !== location.href;
            if (isNew) count += 1;
            const state = { replayhost: "page", step: isNew ? count : history.state?.step ?? count };
            history[isNew ? "pushState" : "replaceState"](state, "", address);
        },

        /** @param {{x: number, y: number}} position the scroll position of this step's page, in CSS pixels */
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
