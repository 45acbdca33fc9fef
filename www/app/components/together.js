/** Offers archives that have the rest of an incomplete capture, and replays them together in a collection. */
import "../messages/en/around.js";
import * as api from "../core/api.js";
import { make, plain } from "../core/dom.js";
import { message, messageParts } from "../core/i18n.js";
import { navigate } from "../core/navigation.js";
import { pageURL, tabURL } from "../core/routes.js";
import { spaced } from "../core/text.js";
import { errorBlock } from "./messages.js";

/**
 * @typedef {{archive: string, title: string, match: "digest"|"capture"|"earlier", requiredName?: string,
 *   requiredBytes?: "other"|"unknown"}} Holder an archive that has content of an incomplete capture
 */

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item with the incomplete capture
 * @param {Holder[]} holders
 * @param {{url: string, request?: string, timestamp: string}} capture the incomplete one, which is opened
 * @param {Map<string, string>} names of the archives, by ID
 * @returns {HTMLElement} a line for each archive
 */
export function togetherOffers(item, holders, capture, names) {
    const problems = make("div", { role: "alert" });
    return make("div", { class: "together" },
        ...holders.map((holder) => make("p", { class: "together-offer", "data-archive": holder.archive }, ...spaced(
            make("span", {}, ...messageParts(`together.${holder.match}`, { archive: nameOf(holder, names) }), " ",
                holder.requiredBytes && message(`together.${holder.requiredBytes}-bytes`, { name: plain(holder.requiredName, 200) })),
            make("button", { type: "button", text: message("together.replay"), on: { click: () => open(holder) } })))),
        make("p", { class: "quiet", text: message("together.note") }), problems);

    async function open(holder) {
        problems.replaceChildren();
        try {
            const collection = await collectionOf(item, holder);
            navigate(pageURL(collection, capture.request ?? capture.url, capture.timestamp));
        } catch (error) {
            problems.replaceChildren(errorBlock(error, message("together.failed")));
        }
    }
}

function nameOf({ archive, title }, names) {
    return make("a", { dir: "auto", href: tabURL({ kind: "archive", id: archive }),
        text: names.get(archive) || plain(title, 120) || archive });
}

/** The collection of exactly these archives, which is made if there is none. */
async function collectionOf(item, { archive, title }) {
    const here = item.kind === "collection" ? item.members.map(({ id }) => id) : [item.id];
    const members = [...here, archive];
    const known = (await api.collections()).find((collection) => collection.members.length === members.length
        && members.every((id) => collection.members.includes(id)));
    return known ?? api.createCollection({
        title: message("together.title", { one: plain(item.title, 100) || item.id, other: plain(title, 100) || archive }), members });
}
