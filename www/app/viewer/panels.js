/** What the viewer shows in place of a page: progress, absence, failure. */
import { unavailabilityText } from "../components/availability.js";
import { withCode, words } from "../components/messages.js";
import { pageRow } from "../components/page-row.js";
import * as api from "../core/api.js";
import { hostOf } from "../core/captures.js";
import { make, plain, plainURL } from "../core/dom.js";
import { counted } from "../core/format.js";
import { pagesAddress } from "../core/routes.js";

const suggestionsMax = 8;

function panel(kind, ...children) {
    return make("div", { class: `panel ${kind}` }, make("div", { class: "panel-content" }, ...children));
}

/**
 * @param {string} title
 * @param {string} text
 * @returns {HTMLElement}
 */
export function progressPanel(title, text) {
    return panel("progress-panel", make("h1", { text: title }), make("p", { class: "quiet step", text }),
        make("div", { class: "pulse", "aria-hidden": "true" }));
}

/**
 * @param {string} title
 * @param {{hint?: string}|Error} error
 * @param {() => void} retry
 * @param {import("../core/api.js").Archive} archive
 * @returns {HTMLElement}
 */
export function failurePanel(title, error, retry, archive) {
    const hint = error.hint ?? "";
    const what = error.name === "HostError" ? words(error).what : words(new Error(error.message)).what;
    return panel("failure-panel", make("h1", { text: title }),
        make("p", { role: "alert" }, ...withCode(what)),
        hint && make("p", {}, ...withCode(words({ message: hint }).what)),
        make("p", { class: "panel-actions" },
            make("button", { type: "button", class: "primary", text: "Try again", on: { click: retry } }),
            make("a", { class: "button", href: pagesAddress(archive), text: `Pages of this ${archive.kind}` })));
}

/**
 * Says that an address was not captured, and shows what of the same host is there.
 *
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive as it is now: what is away is said as well
 * @param {string} url as the index spells it, when it is indexed; else untrusted, and shown as text
 * @param {boolean} indexed whether the index lists a capture that the engine could not show all the same
 * @returns {HTMLElement}
 */
export function absencePanel(archive, url, indexed) {
    const host = hostOf(url).toLowerCase();
    const nearby = make("div");
    if (host) suggest(archive, host.replace(/^www\./, ""), nearby);
    const title = plain(archive.title) || archive.id;
    const isNamed = indexed && archive.kind === "archive";
    return panel("absence-panel",
        make("h1", { text: indexed ? "This capture cannot be shown" : "This address was not captured" }),
        make("p", { class: "address wrap", dir: "ltr", text: plainURL(url, 600) }),
        make("p", { role: "status" }, indexed
            ? `The index of “${title}” lists it, but there is nothing to show for it. The file may be damaged`
                + (isNamed ? "; " : ".")
            : `“${title}” has no capture of it. Nothing was fetched from the network.`,
        ...(isNamed ? withCode(`\`replayhost info ${archive.id}\` tells more.`) : [])),
        unavailabilityText(archive) && make("p", {}, ...withCode(unavailabilityText(archive))),
        nearby,
        make("p", { class: "panel-actions" },
            history.length > 1
                && make("button", { type: "button", text: "Go back", on: { click: () => history.back() } }),
            make("a", { class: "button", href: pagesAddress(archive), text: `Pages of this ${archive.kind}` })));
}

async function suggest(archive, host, place) {
    let found;
    try {
        found = await api.pages(archive, { words: host, limit: suggestionsMax });
    } catch {
        return;
    }
    if (found.total === 0) {
        place.replaceChildren(make("p", { class: "quiet", text: `No page of ${plain(host, 80)} is listed.` }));
        return;
    }
    const more = found.total - suggestionsMax;
    place.replaceChildren(make("div", {},
        make("h2", { text: `Pages here with ${plain(host, 80)}` }),
        make("ul", { class: "pages" }, ...found.pages.map((page) => pageRow(archive, page))),
        more > 0 && make("p", { class: "quiet", text: `and ${counted(more, "more", "more")} in the list of pages` })));
}
