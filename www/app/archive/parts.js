/** The parts of an archive's view. Each loads, with its style sheets, when it's first shown. */
import { loadStyles } from "../core/dom.js";
import { details } from "../core/library-api.js";

const parts = {
    page: [["archive/archive-page.css", "archive/details.css", "archive/archive-lists.css"], () => import("./archive-page.js")],
    viewer: [[], () => import("../viewer/viewer.js"), () => import("../viewer/replay-mode.js"), () => import("../replay/replay-port.js")],
    report: [["archive/report.css"], () => import("./report.js")],
    compare: [["compare/compare.css"], () => import("../compare/compare.js")],
};

/** The modules of the page's tabs. */
export const tabs = {
    overview: () => import("./overview.js"),
    archives: () => import("./members.js"),
    pages: () => import("./page-list.js"),
    urls: () => import("./url-list.js"),
    files: () => import("./files.js"),
    timeline: () => import("./timeline.js"),
    details: () => import("./details.js"),
};

/** The exports of the parts that have loaded. */
export const loaded = {};

/** @returns {"page"|"viewer"|"report"|"compare"} the part that shows a view of a route */
export const partOf = (view) => ({ main: "viewer", page: "viewer", report: "report", compare: "compare" }[view] ?? "page");

/** @param {"page"|"viewer"|"report"|"compare"} part */
export async function load(part) {
    if (loaded[part]) return;
    const [styles, ...modules] = parts[part];
    const [found] = await Promise.all([Promise.all(modules.map((one) => one())), ...styles.map(loadStyles)]);
    loaded[part] = Object.assign({}, ...found);
}

/**
 * Loads the view of an archive, with what it shows first.
 *
 * @param {import("../core/route-types.js").TargetRoute} first
 * @returns {Promise<{showArchive: (root: HTMLElement, route: import("../core/route-types.js").TargetRoute) => object}>}
 */
export async function loadView({ kind, name, view }) {
    const found = details({ kind, id: name });
    // The view and the page say what failed.
    for (const part of [found, tabs[view]?.()]) part?.catch(() => {});
    const [{ showArchive }] = await Promise.all([import("./archive-view.js"), load(partOf(view))]);
    return { showArchive: (root, route) => showArchive(root, route, found) };
}
