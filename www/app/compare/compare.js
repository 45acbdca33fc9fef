/** Compares two captures of a URL: their pages or pictures side by side, the words of their text, or the lines of their source. */
import "../messages/en/compare.js";
import "../messages/en/viewer.js";
import { errorBlock } from "../components/messages.js";
import { openOnDemand } from "../components/on-demand.js";
import { pageHeader } from "../components/page-header.js";
import * as api from "../core/api.js";
import { captureNote } from "../core/captures.js";
import { followServer } from "../core/connection.js";
import { announce, arrange, foreign, loadStyles, make, plain } from "../core/dom.js";
import { size } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { icon } from "../core/icons.js";
import { navigate } from "../core/navigation.js";
import { canReplay } from "../core/origins.js";
import { mediumPeriodText } from "../core/periods.js";
import { compareURL, pageURL, tabURL } from "../core/routes.js";
import { exactURL, plainURL } from "../core/text.js";
import { exactMoment, timeOf } from "../core/times.js";
import { captureOfPeriod } from "../viewer/asked-time.js";
import { createChanges } from "./changes.js";
import { areEqual, bytesMax, contentPath, decode, readContent } from "./content.js";
import { differences, inSlices, linesOf, wordsOf } from "./differ.js";
import { textOfHTML } from "./html-text.js";

const sides = ["a", "b"];
const ways = ["pages", "text", "source"];

/**
 * @typedef {{asked: string, capture: import("../core/api.js").Capture, record?: import("../core/api.js").WARCRecord}} Side `asked`: the time in
 *   the address
 */

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {{element: HTMLElement, title: string, show: (route: import("../core/route-types.js").TargetRoute) => void, close: () => void}}
 */
export function createComparison(item) {
    const name = plain(item.title) || item.id;
    const heading = make("h1", { text: message("compare.title"), tabindex: "-1" });
    const address = make("p", { class: "url wrap", dir: "ltr" });
    const bar = make("div", { class: "compare-bar" });
    const result = make("div", { class: "compare-result" });
    const main = make("main", { class: "column compare" }, heading, address, bar, result);
    const element = make("div", {},
        pageHeader([make("span", { "aria-hidden": "true", text: "/" }), make("a", { class: "current", href: tabURL(item), dir: "auto", text: name })]), main);
    const choices = Object.fromEntries(sides.map((side) => [side, createChoice(item, side, (timestamp) => choose({ [side]: timestamp }))]));
    const swap = make("button", { type: "button", class: "tool", "aria-label": message("compare.swap"), title: message("compare.swap"), text: "⇄",
        on: { click: () => choose({ a: route.b, b: route.a }) } });
    let route = null;
    let current = new AbortController();
    let shown = null;
    // Repeats what failed because the server had stopped.
    let retry = null;
    const server = followServer({ onBack: () => retry?.() });

    const choose = (change) => navigate(compareURL(item, route.url, { ...route, ...change }));

    /** Of what was read before, only what is still compared stays. */
    let known = new Map();

    queueMicrotask(() => {
        if (document.activeElement === document.body) heading.focus({ preventScroll: true });
    });

    /** @param {import("../core/route-types.js").TargetRoute} next */
    async function show(next) {
        route = { ...next };
        retry = null;
        current.abort();
        current = new AbortController();
        const { signal } = current;
        shown?.close?.();
        shown = null;
        address.textContent = exactURL(route.url);
        result.replaceChildren(make("p", { class: "quiet", role: "status", text: message("compare.comparing") }));
        try {
            const [a, b] = await Promise.all(sides.map((side) => findCapture(item, route.url, route[side], side)));
            if (signal.aborted) return;
            if (!a || !b) {
                bar.replaceChildren();
                result.replaceChildren(make("p", {}, ...messageParts("compare.not-captured", { archive: foreign(name) })));
                return;
            }
            // The times that are exchanged are those that are shown.
            for (const [side, { capture }] of [["a", a], ["b", b]]) route[side] ||= capture.timestamp;
            await compare(a, b, signal);
        } catch (error) {
            if (signal.aborted) return;
            if (error.status === 0) retry = () => show(next);
            result.replaceChildren(errorBlock(error, message("compare.failed")));
        }
    }

    async function compare(a, b, signal) {
        const arePictures = [a, b].every(({ capture }) => capture.mime?.startsWith("image/"));
        choices.a.show(a);
        choices.b.show(b);
        const tabs = make("nav", { class: "compare-ways", "aria-label": message("compare.ways") }, ...ways.map((way) =>
            make("a", { class: "button", href: compareURL(item, route.url, { ...route, as: way }), "aria-current": way === route.as ? "page" : null,
                text: message(way === "pages" && arePictures ? "compare.pictures" : `compare.${way}`) })));
        // What keeps its place keeps the focus.
        const focused = document.activeElement?.closest(".compare-ways") ? document.activeElement.textContent : "";
        arrange(bar, [choices.a.element, swap, choices.b.element, tabs]);
        if (focused) tabs.querySelector("[aria-current]")?.focus();
        const [one, other] = await Promise.all([a, b].map(({ capture }) => contentOf(capture, signal)));
        known = new Map([[keyOf(a.capture), one], [keyOf(b.capture), other]]);
        choices.a.note(one, route.as);
        choices.b.note(other, route.as);
        const parts = await resultOf([a.capture, b.capture], [one, other], signal);
        signal.throwIfAborted();
        result.replaceChildren(...parts);
        announce(result.querySelector(".compare-count")?.textContent ?? "");
    }

    const contentOf = (capture, signal) => known.get(keyOf(capture)) ?? readContent(item, capture, signal);

    async function resultOf(captures, contents, signal) {
        const isWayPages = route.as === "pages";
        if (keyOf(captures[0]) === keyOf(captures[1])) return [verdict("same-capture")];
        // Pages and pictures can be larger.
        const problem = contents.findIndex((one) => one.problem && !(isWayPages && one.problem === "large"));
        if (problem >= 0) return [verdict(contents[problem].problem, { side: sides[problem].toUpperCase(), size: size(bytesMax) })];
        const isEqual = contents.every((one) => !one.problem) && areEqual(contents[0].bytes, contents[1].bytes);
        const equal = isEqual && verdict("equal", { size: size(contents[0].bytes.length) });
        const arePictures = isWayPages && contents.every(({ kind }) => kind === "picture");
        if (isEqual && (!isWayPages || arePictures)) return [equal];
        const isReadable = ({ kind, type }) => arePictures || kind === "html" || kind === "text" || route.as === "source" && type.startsWith("image/svg+xml");
        const unreadable = contents.findIndex((one) => !isReadable(one));
        if (unreadable >= 0) return [verdict("no-text", { side: sides[unreadable].toUpperCase(), type: plain(contents[unreadable].type, 60) })];
        if (arePictures) return picturesOf(captures, contents);
        return isWayPages ? pagesOf(captures, equal) : compareTexts(contents, signal);
    }

    async function picturesOf(captures, contents) {
        const { createPictures } = await import("./pictures.js");
        return [createPictures(captures.map((capture, index) =>
            ({ path: contentPath(item, capture), bytes: contents[index].bytes.length, time: exactMoment(capture.capturedAt) })))];
    }

    async function pagesOf(captures, equal) {
        if (!canReplay()) return [verdict("no-replay")];
        const { createSideBySide } = await import("./side-by-side.js");
        shown = createSideBySide(item, captures);
        return [equal, shown.element].filter(Boolean);
    }

    async function compareTexts(contents, signal) {
        const decoded = contents.map(decode);
        const isText = route.as === "text";
        const texts = [];
        for (const [index, { text }] of decoded.entries()) {
            const { kind, type } = contents[index];
            const whole = isText && kind === "html" ? await inSlices(textOfHTML(text, type.includes("xml")), signal) : text;
            texts.push(await inSlices(isText ? wordsOf(whole) : linesOf(whole), signal));
        }
        const { edits, isComplete } = await inSlices(differences(...texts), signal);
        const changes = createChanges(route.as, ...texts, edits);
        const notes = [
            make("p", { class: "quiet", text: message(isText ? "compare.about-text" : "compare.about-source") }),
            !isComplete && make("p", { class: "notice warning", text: message("compare.incomplete") }),
            ...decoded.flatMap((one, index) => encodingNotes(one, sides[index].toUpperCase())),
        ].filter(Boolean);
        if (edits.length === 0) return [verdict(isText ? "same-text" : "same-lines"), ...notes];
        const button = (shape, key, by) => make("button", { type: "button", class: "tool", "aria-label": message(key), title: message(key),
            on: { click: () => changes.step(by) } }, icon(shape));
        return [make("div", { class: "compare-steps" }, make("p", { class: "compare-count", text: message("compare.count", { n: changes.count }) }),
            button("back", "compare.previous", -1), button("forward", "compare.next", 1)), ...notes, changes.element];
    }

    return {
        element,
        title: message("compare.document-title", { archive: name }),
        show,
        close() {
            current.abort();
            server.close();
            shown?.close?.();
            element.remove();
        },
    };
}

const keyOf = ({ timestamp, url, request }) => `${timestamp} ${request ?? url}`;

const verdict = (key, values) => make("p", { class: "compare-count", text: message(`compare.${key}`, values) });

function encodingNotes({ encoding, unknown, isDamaged }, side) {
    return [
        unknown && make("p", { class: "notice warning" }, ...messageParts("compare.unknown-encoding", { side, unknown: foreign(unknown, 60), encoding })),
        isDamaged && make("p", { class: "notice warning", text: message("compare.damaged-encoding", { side, encoding }) }),
    ];
}

/**
 * @param {string} asked a timestamp, or its first digits; empty for the first capture on side A, and the latest on side B
 * @returns {Promise<Side|null>} `null` if the URL wasn't captured
 */
async function findCapture(item, url, asked, side) {
    const list = await api.captures(item, url, !asked && side === "a" ? {} : { closest: asked });
    const capture = !asked && side === "a" ? list.captures.find(({ request }) => !request) ?? list.captures[0] : captureOfPeriod(asked, list) ?? list.closest;
    if (!capture) return null;
    const holder = item.kind === "collection" ? capture.archive : item.id;
    const [record] = holder ? await api.records(holder, { ...capture, url: capture.request ?? capture.url }).catch(() => []) : [];
    return { asked, capture, record };
}

/** A capture, with a button that opens the calendar to choose another one. */
function createChoice(item, side, onTime) {
    const chosen = { capture: null };
    const time = make("time");
    const button = make("button", { type: "button", class: "time-choice", "aria-haspopup": "dialog" },
        make("span", { class: "side", text: side.toUpperCase() }), " ", time);
    openOnDemand(button, async () => {
        const [{ capturesPopover }] = await Promise.all([import("../viewer/captures-popover.js"), loadStyles("viewer/captures.css")]);
        capturesPopover(button, item, chosen, (timestamp) => {
            onTime(timestamp);
            button.focus();
        }, false);
    });
    const open = make("a", { text: message("compare.open", { side: side.toUpperCase() }) });
    const notes = make("ul", { class: "capture-notes" });
    const element = make("div", { class: "capture-side" }, make("span", { class: "chip-place" }, button), open, notes);

    function list(texts) {
        notes.replaceChildren(...texts.filter(Boolean).map((text) => make("li", {}, ...[text].flat())));
    }

    return {
        element,

        /** @param {Side} found */
        show({ asked, capture, record }) {
            Object.assign(chosen, { capture, asked, record });
            time.dateTime = capture.capturedAt;
            time.textContent = exactMoment(capture.capturedAt);
            open.href = pageURL(item, capture.request ?? capture.url, capture.timestamp);
            list([]);
        },

        /** Says what a capture is, if it isn't simply the page at the time. */
        note(content, way) {
            const { asked, capture, record } = chosen;
            const isRedirect = content.status >= 300 && content.status < 400;
            list([
                asked && !capture.timestamp.startsWith(asked.slice(0, capture.timestamp.length)) && message("compare.closest", { ...askedText(asked) }),
                isRedirect && messageParts("compare.redirect", { status: String(content.status), url: urlText(content.target) }),
                captureNote({ ...capture, status: content.problem ? capture.status : content.status, recorded: undefined }),
                record?.repeats && message("compare.repeats", { time: exactMoment(timeOf(record.repeats.timestamp)) }),
                way === "pages" && content.kind === "html" && isRedirect && message("compare.follows"),
            ]);
        },
    };
}

const urlText = (url) => make("span", { class: "url", dir: "ltr", text: plainURL(url, 120) });

/** A time or a period in the address, for a message. */
function askedText(asked) {
    const period = asked.slice(0, Math.min(8, asked.length - asked.length % 2));
    const time = exactMoment(timeOf(asked));
    if (time) return { kind: "time", asked: time };
    return period.length < 4 ? { kind: "time", asked } : { kind: period.length === 8 ? "day" : "span", asked: mediumPeriodText(period) };
}
