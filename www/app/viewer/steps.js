/**
 * The entries of the browser's history, which the viewer makes itself.
 *
 * A frame's own entries are lost when the tab is reloaded, and Back then does nothing. So `page.js` has each page replace
 * the previous one, and the viewer adds the entry. It also restores the scroll position, which the browser no longer does.
 */

const positionsMax = 200;

/** @param {number} [length] the number of the browser's entries before the page could add any; later, when the last step was made */
export function createSteps(length = history.length) {
    const positions = new Map();
    let count = Date.now();
    // How far the page has moved since the last step, and how many of the viewer's entries are before the latest one.
    let moved = 0;
    let latest = 0;

    /** Returns the number of the viewer's entries before the current one. */
    function entriesBefore() {
        const { replayhost, before = 0 } = history.state ?? {};
        // The first page may have added entries before the viewer's own.
        return (replayhost === "page" ? before : 0) + Math.max(0, history.length - length);
    }

    return {
        /**
         * @param {string} address the app's URL for what is shown
         * @param {import("./navigation.js").Step} step
         */
        make(address, step) {
            const isNew = step === "push" && new URL(address, location).href !== location.href;
            if (isNew) count += 1;
            const before = entriesBefore() + (isNew ? 1 : 0);
            latest = isNew ? before : Math.max(latest, before);
            moved = 0;
            const state = { replayhost: "page", step: isNew ? count : history.state?.step ?? count, before };
            history[isNew ? "pushState" : "replaceState"](state, "", address);
            ({ length } = history);
        },

        /**
         * Moves in the browser's history for the page, but only among the viewer's entries.
         *
         * @param {number} count
         */
        go(count) {
            const before = entriesBefore();
            const target = before + moved + count;
            if (target < 0 || target > Math.max(latest, before)) return;
            moved += count;
            history.go(count);
        },

        /**
         * Moves back for a page that the viewer has made no entry for yet, but only among the entries that the page added.
         *
         * @param {number} count
         * @returns {boolean} whether it moves
         */
        goEarly(count) {
            const isOwn = count < 0 && -count <= history.length - length;
            if (isOwn) {
                // The viewer's entry comes after those that are left.
                length -= count;
                history.go(count);
            }
            return isOwn;
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
