/** A page in a list: a link that opens it in the viewer, its URL and its time. */
import { make, plain } from "../core/dom.js";
import { moment } from "../core/format.js";
import { pageURL } from "../core/routes.js";
import { spaced } from "../core/text.js";

/**
 * @param {import("../core/route-types.js").Target} archive
 * @param {import("../core/api.js").Page} page
 * @returns {HTMLElement}
 */
export function pageRow(archive, page) {
    const url = plain(page.url, 400);
    return make("li", {}, ...spaced(
        make("a", { href: pageURL(archive, page.url, page.timestamp), text: plain(page.title) || url }),
        make("span", { class: "url", dir: "ltr", text: url }),
        page.capturedAt && make("time", { datetime: page.capturedAt, title: page.capturedAt,
            text: moment(page.capturedAt) })));
}
