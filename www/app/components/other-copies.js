/** Says whether a URL with an issue can be shown in another way: from another archive, or at another time. */
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { make, plain, plainURL } from "../core/dom.js";
import { day, timeOf } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { pageURL } from "../core/routes.js";
import { lazyTrustMark } from "./lazy-trust-mark.js";

const copiesMax = 3;
const pagesMax = 3;
const capturesMax = 50;

/** One at a time, since each may search the whole library. */
let queue = Promise.resolve();
const observed = new WeakMap();
const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        queue = queue.then(() => target.isConnected && observed.get(target)());
    }
}, { rootMargin: "200px" });
const failed = new Set();
followServer({ onBack() {
    for (const element of failed) observer.observe(element);
    failed.clear();
} });

/**
 * @param {import("../core/api.js").Archive} archive
 * @param {string} url
 * @param {"see"|"untrue"} effect whether the capture can't be shown, or may be untrue
 * @returns {HTMLElement} filled when it is visible
 */
export function otherCopies(archive, url, effect) {
    const element = make("div", { class: "other-copies", "aria-live": "polite" });
    observed.set(element, async () => {
        try {
            const lines = effect === "see" ? await explained(archive, url) : await copies(archive, url);
            element.replaceChildren(...lines);
        } catch (error) {
            if (error.status === 0) failed.add(element);
            else element.replaceChildren(make("p", { class: "quiet", text: message("issue.copies-unknown") }));
        }
    });
    observer.observe(element);
    return element;
}

/** What the server knows of a URL that can't be shown. */
async function explained(archive, url) {
    const found = await api.explanation(archive, url, "");
    if (!found) return [];
    const pages = found.reasons.find(({ code }) => code === "linked-from");
    const elsewhere = found.offers.filter(({ why }) => why === "other-archive");
    const titles = new Map((found.reasons.find(({ code }) => code === "other-archive")?.archives ?? []).map(({ archive: id, title }) => [id, title]));
    const here = found.code === "captured" ? found.reasons[0] : found.offers.find(({ why }) => why === "unreadable");
    return [
        pages && make("p", {}, ...messageParts("issue.used-on", { n: pages.total }),
            ...pages.pages.slice(0, pagesMax).flatMap((page) => [" ",
                make("a", { dir: "ltr", href: pageURL(archive, page.url, page.timestamp), text: plainURL(page.url, 120) })])),
        here && make("p", {}, ...messageParts("issue.shown-instead", { day: dayOf(here.timestamp) },
            { open: (...text) => make("a", { href: pageURL(archive, here.request ?? here.url, here.timestamp) }, ...text) })),
        ...elsewhere.slice(0, copiesMax).map((capture) => copyLine(capture.archive, titles.get(capture.archive), capture)),
        !here && elsewhere.length === 0 && make("p", { class: "quiet", text: message("issue.no-copy") }),
    ].filter(Boolean);
}

/** Captures of the URL in other archives. */
async function copies(archive, url) {
    // An asterisk would make it a pattern.
    if (url.includes("*")) return [];
    const others = (await api.capturesInLibrary(url, capturesMax)).filter(({ source }) => source !== archive.id);
    const latest = [...new Map([...others].reverse().map((capture) => [capture.source, capture])).values()].reverse();
    if (latest.length === 0) return [make("p", { class: "quiet", text: message("issue.no-copy") })];
    return latest.slice(0, copiesMax).map((capture) => copyLine(capture.source, undefined, capture));
}

function copyLine(id, title, { url, request, timestamp }) {
    const target = { kind: "archive", id };
    return make("p", { class: "other-copy" },
        make("span", {}, ...messageParts("issue.copy", { archive: plain(title, 80) || id, day: dayOf(timestamp) })), lazyTrustMark(id),
        make("a", { href: pageURL(target, request ?? url, timestamp), text: message("issue.open-there") }));
}

const dayOf = (timestamp) => day(timeOf(timestamp) || timestamp);
