/** Says whether a URL with an issue can be shown in another way: from another archive, or at another time. */
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { make } from "../core/dom.js";
import { day } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { createCache } from "../core/newest.js";
import { pageURL } from "../core/routes.js";
import { plainURL, spaced } from "../core/text.js";
import { timeOf } from "../core/times.js";
import { namesOf } from "./archive-names.js";
import { togetherOffers } from "./together.js";
import { trustMark } from "./trust-mark.js";

const copiesMax = 3;
const pagesMax = 3;
const capturesMax = 50;
const archivesMax = 50;
const missingMax = 3;

const archives = createCache(archivesMax);
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
 * @param {boolean} mayBeUntrue whether the capture, if it can be shown, may not be what was recorded
 * @returns {HTMLElement} filled when it is visible
 */
export const otherCopies = (archive, url, mayBeUntrue) => whenSeen(() => copyLines(archive, url, mayBeUntrue));

/**
 * @param {import("../core/api.js").Archive} archive
 * @returns {HTMLElement} archives that have content which the last verification missed, filled when it is visible
 */
export const missingContent = (archive) => whenSeen(() => holderLines(archive));

/** @param {() => Promise<Node[]>} find what to show */
function whenSeen(find) {
    const element = make("div", { class: "other-copies", "aria-live": "polite" });
    observed.set(element, async () => {
        try {
            element.replaceChildren(...await find());
        } catch (error) {
            if (error.status === 0) failed.add(element);
            else element.replaceChildren(make("p", { class: "quiet", text: message("issue.copies-unknown") }));
        }
    });
    observer.observe(element);
    return element;
}

async function copyLines(archive, url, mayBeUntrue) {
    const found = await api.explanation(archive, url, "");
    if (!found) return [];
    const isCaptured = found.code === "captured";
    const pages = found.reasons.find(({ code }) => code === "linked-from");
    const here = mayBeUntrue ? null : isCaptured ? found.reasons[0] : found.offers.find(({ why }) => ["unreadable", "incomplete", "requires"].includes(why));
    // What can be shown isn't looked for elsewhere.
    const elsewhere = isCaptured && mayBeUntrue ? await captures(archive, url)
        : found.offers.filter(({ why }) => why === "other-archive");
    const shown = await Promise.all(elsewhere.slice(0, copiesMax).map(async (capture) => ({ capture, other: await read(capture.archive) })));
    const names = await namesOf([archive, ...shown.map(({ other }) => other)]);
    const copies = shown.map(({ capture, other }) => copyLine(capture, other, names.get(other.id)));
    return [
        pages && make("p", {}, message("issue.used-on", { n: pages.total }),
            ...pages.pages.slice(0, pagesMax).flatMap((page) => [" ",
                make("a", { dir: "ltr", href: pageURL(archive, page.url, page.timestamp), text: plainURL(page.url, 120) })])),
        here && make("p", {}, ...messageParts("issue.shown-instead", { day: dayOf(here.timestamp) },
            { open: (...text) => make("a", { href: pageURL(archive, here.request ?? here.url, here.timestamp) }, ...text) })),
        ...copies,
        !here && copies.length === 0 && make("p", { class: "quiet", text: message("issue.no-copy") }),
    ].filter(Boolean);
}

/** Each search may open several archives, so it's made for a few captures only. */
async function holderLines(archive) {
    const lines = new Map();
    for (const { url, timestamp } of archive.verificationReport?.result.missing?.slice(0, missingMax) ?? []) {
        const found = await api.explanation(archive, url, timestamp);
        const reason = found?.reasons.find((each) => each.code === "incomplete" && each.timestamp === timestamp);
        for (const holder of reason?.archives ?? []) {
            if (!lines.has(holder.archive)) lines.set(holder.archive, { holder, reason });
        }
    }
    const names = await namesOf([archive, ...[...lines.values()].map(({ holder }) => ({ id: holder.archive, title: holder.title }))]);
    return [...lines.values()].map(({ holder, reason }) => togetherOffers(archive, [holder], reason, names));
}

/** The latest capture of the URL in each other archive. */
async function captures(archive, url) {
    // An asterisk would make it a pattern.
    if (url.includes("*")) return [];
    const others = new Map();
    for (const capture of await api.capturesInLibrary(url, capturesMax)) {
        if (capture.source !== archive.id && !others.has(capture.source)) others.set(capture.source, { ...capture, archive: capture.source });
    }
    return [...others.values()];
}

const read = (id) => archives.get(id, () => api.details({ kind: "archive", id }));

function copyLine({ url, request, timestamp }, archive, name) {
    return make("p", { class: "other-copy" }, ...spaced(
        make("span", {}, ...messageParts("issue.copy", { archive: name, day: dayOf(timestamp) })), trustMark(archive),
        make("a", { href: pageURL(archive, request ?? url, timestamp), text: message("issue.open-there") })));
}

const dayOf = (timestamp) => day(timeOf(timestamp) || timestamp);
