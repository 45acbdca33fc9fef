/** One of the captures that are compared: which it is, what it is, and a calendar to choose another one. */
import "../messages/en/compare.js";
import "../messages/en/viewer.js";
import { openOnDemand } from "../components/on-demand.js";
import * as api from "../core/api.js";
import { captureNote } from "../core/captures.js";
import { loadStyles, make } from "../core/dom.js";
import { message, messageParts } from "../core/i18n.js";
import { mediumPeriodText } from "../core/periods.js";
import { pageURL } from "../core/routes.js";
import { plainURL } from "../core/text.js";
import { exactMoment, timeOf } from "../core/times.js";
import { captureOfPeriod } from "../viewer/asked-time.js";

/**
 * @typedef {{asked: string, capture: import("../core/api.js").Capture, record?: import("../core/api.js").WARCRecord}} Side `asked`: the time in
 *   the address
 */

/**
 * @param {import("../core/route-types.js").Target} item
 * @param {string} url
 * @param {string} asked a timestamp, or its first digits; empty for the first capture on side A, and the latest on side B
 * @param {"a"|"b"} side
 * @returns {Promise<Side|null>} `null` if the URL wasn't captured
 */
export async function findCapture(item, url, asked, side) {
    const isFirst = !asked && side === "a";
    const list = await api.captures(item, url, isFirst ? {} : { closest: asked });
    const capture = isFirst ? list.captures.find(({ request }) => !request) ?? list.captures[0] : captureOfPeriod(asked, list) ?? list.closest;
    if (!capture) return null;
    const holder = item.kind === "collection" ? capture.archive : item.id;
    const [record] = holder ? await api.records(holder, { ...capture, url: capture.request ?? capture.url }).catch(() => []) : [];
    return { asked, capture, record };
}

/**
 * @param {import("../core/route-types.js").Target} item
 * @param {"a"|"b"} side
 * @param {(timestamp: string) => void} onTime another time was chosen
 */
export function createChoice(item, side, onTime) {
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

        /**
         * Says what the capture is, if it isn't simply the page at the time.
         *
         * @param {import("./content.js").Content} content
         * @param {"pages"|"text"|"source"} way
         */
        note(content, way) {
            const { asked, capture, record } = chosen;
            const isRedirect = content.status >= 300 && content.status < 400;
            list([
                asked && !capture.timestamp.startsWith(asked.slice(0, capture.timestamp.length)) && message("compare.closest", askedText(asked)),
                isRedirect && messageParts("compare.redirect", { status: String(content.status), url: urlText(content.target) }),
                captureNote(content.problem ? capture : { ...capture, status: content.status, recorded: undefined }),
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
