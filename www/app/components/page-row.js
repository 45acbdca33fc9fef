/** One page as a link into the viewer, its URL as text beside it. */
import { make, plain } from "../core/dom.js";
import { moment } from "../core/format.js";
import { pageAddress } from "../core/routes.js";

/**
 * @param {import("../core/routes.js").Place} archive
 * @param {import("../core/api.js").Page} page
 * @returns {HTMLElement}
 */
export function pageRow(archive, page) {
    const url = plain(page.url, 400);
    return make("li", {},
        make("a", { href: pageAddress(archive, page.url, page.timestamp), text: plain(page.title) || url }),
        make("span", { class: "address", dir: "ltr", text: url }),
        page.capturedAt && make("time", { datetime: page.capturedAt, title: page.capturedAt,
            text: moment(page.capturedAt) }));
}
