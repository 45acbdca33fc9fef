/** Says how many archives can't be searched yet. */
import * as api from "../core/api.js";
import { make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";

const refreshMilliseconds = 500;

/**
 * @param {() => void} searchAgain
 * @returns {{element: HTMLElement, show: (coverage: import("../core/api.js").Results["coverage"]) => void,
 *   refresh: () => void, close: () => void}} `show`: the coverage of the results that are shown; `refresh`: reads the
 *   current one
 */
export function createCoverage(searchAgain) {
    const text = make("span");
    const again = make("button", { type: "button", text: message("search.again"), on: { click: searchAgain } });
    const element = make("div", { class: "notice coverage", hidden: true }, text, again);
    let shown = { complete: 0, pending: 0 };
    let timer;

    function show(coverage, isCurrent = true) {
        const { pending, rebuildReason } = coverage;
        const reason = rebuildReason ? message("search.rebuilding", { reason: plain(rebuildReason, 300) }) : "";
        text.textContent = pending > 0 ? `${message("search.not-searched", { n: pending })} ${reason}`.trim() : message("search.all-indexed");
        again.hidden = isCurrent;
        element.hidden = pending === 0 && isCurrent;
    }

    async function read() {
        const results = await api.search({ words: "" }, { limit: 1 }).catch(() => null);
        if (results) show(results.coverage, results.coverage.complete <= shown.complete);
    }

    return {
        element,
        show(coverage) {
            shown = coverage;
            show(coverage);
        },

        /** Reads the coverage, once for several calls in a short time. */
        refresh() {
            if (shown.pending === 0) return;
            clearTimeout(timer);
            timer = setTimeout(read, refreshMilliseconds);
        },

        close: () => clearTimeout(timer),
    };
}
