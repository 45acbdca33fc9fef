/** The choice to show what the signature of an archive doesn't cover. */
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { announce, make } from "../core/dom.js";
import { message } from "../core/i18n.js";

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {(now: import("../core/api.js").Archive) => void} onChanged
 * @returns {HTMLElement[]} empty if the signature covers everything, or if there is none
 */
export function uncoveredChoice(item, onChanged) {
    if (item.kind === "collection" || !item.showsUncovered && !item.findings?.some(({ code }) => code === "content-uncovered")) return [];
    const now = item.showsUncovered ? "shown" : "hidden";
    const problems = make("div");
    const button = make("button", { type: "button", text: message(`uncovered.change-${now}`), on: { click: change } });

    async function change() {
        button.disabled = true;
        problems.replaceChildren();
        try {
            const changed = await api.edit(item, { showsUncovered: !item.showsUncovered });
            announce(message(`uncovered.${changed.showsUncovered ? "shown" : "hidden"}`));
            onChanged(changed);
        } catch (error) {
            button.disabled = false;
            problems.replaceChildren(errorBlock(error, message("uncovered.failed")));
        }
    }
    return [make("section", { "aria-labelledby": "uncovered-title" },
        make("h2", { id: "uncovered-title", text: message("uncovered.title") }),
        make("p", { text: message(`uncovered.${now}`) }), problems, button)];
}
