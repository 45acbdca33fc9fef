/** Imported files that were in the library already, until they're dismissed. */
import { fileOf } from "../components/job-results.js";
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { make, plain } from "../core/dom.js";
import { message, messageParts } from "../core/i18n.js";
import { tabURL } from "../core/routes.js";

const shownMax = 50;

/**
 * @param {() => import("../core/api.js").Job[]} jobs imports of duplicates
 * @param {(id: number) => void} onDismissed
 * @returns {{element: HTMLElement, update: () => void}}
 */
export function duplicateList(jobs, onDismissed) {
    const heading = make("h2", { id: "duplicates-title" });
    const problems = make("div");
    const list = make("ul");
    const element = make("section", { class: "duplicates", hidden: true, "aria-labelledby": heading.id }, heading, problems, list);
    const titles = new Map();
    let shown = "";

    function update() {
        const all = jobs();
        element.hidden = all.length === 0;
        heading.textContent = message("activity.duplicates", { n: all.length });
        const newest = all.slice(-shownMax).reverse();
        const ids = newest.map(({ id }) => id).join();
        if (ids === shown) return;
        shown = ids;
        list.replaceChildren(...newest.map(row), ...(all.length > shownMax
            ? [make("li", { class: "quiet", text: message("activity.duplicates-more", { n: all.length - shownMax }) })] : []));
    }

    function row(job) {
        const name = fileOf(job);
        const link = job.archive && make("a", { href: tabURL({ kind: "archive", id: job.archive }), dir: "auto", text: titles.get(job.archive) ?? job.archive });
        if (link && !titles.has(job.archive)) readTitle(job.archive, link);
        return make("li", { class: "failure" },
            make("div", { class: "text" }, make("p", { class: "name", dir: "auto", text: name }),
                link && make("p", { class: "reason" }, ...messageParts("activity.duplicate-of", { archive: link }))),
            make("span", { class: "job-actions" }, make("button", { type: "button", class: "plain", text: message("activity.dismiss"),
                "aria-label": message("activity.dismiss-label", { name }), on: { click: () => dismiss(job) } })));
    }

    /** The archive may have been removed since. Its ID stays then. */
    async function readTitle(id, link) {
        const archive = await api.details({ kind: "archive", id }).catch(() => null);
        if (!archive) return;
        titles.set(id, plain(archive.title, 120) || id);
        link.textContent = titles.get(id);
    }

    async function dismiss({ id }) {
        problems.replaceChildren();
        try {
            // It may be dismissed already, for example in another tab.
            await api.dismissJob(id).catch((error) => error.code === "not-found" || Promise.reject(error));
            onDismissed(id);
            document.querySelector("main h1").focus();
        } catch (error) {
            problems.replaceChildren(errorBlock(error));
        }
    }

    return { element, update };
}
