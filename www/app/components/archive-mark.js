/** The picture of an archive or a collection: its own thumbnail, or the first letter of its main site or title on a colour. */
import { hostOf } from "../core/hosts.js";
import { make, plain } from "../core/dom.js";

const hues = 12;
const iconMax = 130;

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {string} [size] a class
 * @returns {HTMLElement} hidden from assistive technology, since the title is beside it
 */
export function archiveMark(item, size = "") {
    const place = make("span", { class: `archive-mark ${size}`.trim(), "aria-hidden": "true" });
    const showLetter = () => {
        place.style.setProperty("--hue", hueOf(item.id));
        place.replaceChildren(letterOf(item));
    };
    if (!/^\/api\/archives\/[a-z0-9-]+\/thumbnail(\?|$)/.test(item.thumbnail ?? "")) showLetter();
    else place.append(make("img", { src: item.thumbnail, alt: "", loading: "lazy", decoding: "async", on: { error: showLetter, load: showIcon } }));
    return place;

    /** A small picture isn't made larger, but stands on the archive's colour. */
    function showIcon({ target }) {
        if (target.naturalWidth >= iconMax || target.naturalHeight >= iconMax) return;
        place.classList.add("with-icon");
        place.style.setProperty("--hue", hueOf(item.id));
    }
}

/** Digits would look like a number of something, so an IP address has no letter. */
function letterOf({ mainPage, title, id }) {
    const host = hostOf(mainPage?.url ?? "").replace(/^www\.|^\[.*/, "");
    return (/\p{L}/u.exec(`${host} ${plain(title) || id}`)?.[0] ?? "·").toLocaleUpperCase("en");
}

/** An angle on the colour wheel, one of a few. */
function hueOf(id) {
    let hash = 0;
    for (const character of id) hash = (hash * 31 + character.codePointAt(0)) % 1_000_003;
    return hash % hues * (360 / hues);
}
