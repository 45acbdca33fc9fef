/** Compares two captures of a URL: their pages or pictures side by side, the words of their text, or the lines of their source. */
import "../messages/en/compare.js";
import { errorBlock } from "../components/messages.js";
import { pageHeader } from "../components/page-header.js";
import { answerOf } from "../core/answer.js";
import { followServer } from "../core/connection.js";
import { announce, arrange, foreign, make, plain } from "../core/dom.js";
import { size } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { icon } from "../core/icons.js";
import { navigate } from "../core/navigation.js";
import { canReplay } from "../core/origins.js";
import { compareURL, tabURL } from "../core/routes.js";
import { exactURL } from "../core/text.js";
import { exactMoment } from "../core/times.js";
import { createChoice, findCapture } from "./capture-choice.js";
import { createChanges } from "./changes.js";
import { areEqual, bytesMax, contentPath, decode, readContent } from "./content.js";
import { differences, inSlices, linesOf, wordsOf } from "./differ.js";
import { textOfHTML } from "./html-text.js";

const sides = ["a", "b"];
const ways = ["pages", "text", "source"];

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
    // The pages side by side.
    let shown = null;
    // The contents that are compared. Another way to compare them doesn't read them again.
    let known = new Map();
    // Repeats what failed because the server had stopped.
    let retry = null;
    const server = followServer({ onBack: () => retry?.() });

    const choose = (change) => navigate(compareURL(item, route.url, { ...route, ...change }));

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
        shown?.close();
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
        const arePictures = [a, b].every(({ capture }) => answerOf(capture).mime?.startsWith("image/"));
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
        const arePictures = isWayPages && contents.every(({ kind }) => kind === "picture");
        const way = isWayPages && !arePictures ? "pages" : "other";
        const equal = isEqual && verdict("equal", { size: size(contents[0].bytes.length), way });
        if (isEqual && (!isWayPages || arePictures)) return [equal];
        const isComparable = ({ kind, type }) => arePictures || kind === "html" || kind === "text" || route.as === "source" && type.startsWith("image/svg+xml");
        const other = contents.findIndex((one) => !isComparable(one));
        if (other >= 0) return [verdict("other-type", { side: sides[other].toUpperCase(), type: plain(contents[other].type, 60) })];
        if (arePictures) return picturesOf(captures, contents);
        return isWayPages ? pagesOf(captures, equal, signal) : compareTexts(contents, signal);
    }

    async function picturesOf(captures, contents) {
        const { createPictures } = await import("./pictures.js");
        return [createPictures(captures.map((capture, index) =>
            ({ path: contentPath(item, capture), bytes: contents[index].bytes.length, time: exactMoment(capture.capturedAt) })))];
    }

    async function pagesOf(captures, equal, signal) {
        if (!canReplay()) return [verdict("no-replay")];
        const { createSideBySide } = await import("./side-by-side.js");
        signal.throwIfAborted();
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
        if (edits.length === 0) return [verdict(sameness(isText, texts[0])), ...notes];
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
            shown?.close();
            element.remove();
        },
    };
}

const keyOf = ({ timestamp, url, request }) => `${timestamp} ${request ?? url}`;

/** What two texts without changes have in common. */
function sameness(isText, { starts }) {
    if (!isText) return "same-lines";
    return starts.length > 0 ? "same-text" : "no-words";
}

const verdict = (key, values) => make("p", { class: "compare-count", text: message(`compare.${key}`, values) });

function encodingNotes({ encoding, unknown, isDamaged }, side) {
    return [
        unknown && make("p", { class: "notice warning" }, ...messageParts("compare.unknown-encoding", { side, unknown: foreign(unknown, 60), encoding })),
        isDamaged && make("p", { class: "notice warning", text: message("compare.damaged-encoding", { side, encoding }) }),
    ];
}
