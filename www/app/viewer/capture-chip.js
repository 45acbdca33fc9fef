/** The time of the capture that is shown, and its place among the captures of its URL, between buttons for previous and next. */
import { openOnDemand } from "../components/on-demand.js";
import { arrange, loadStyles, make, setText } from "../core/dom.js";
import { formatted, moment, shortDay } from "../core/format.js";
import { message } from "../core/i18n.js";
import { icon } from "../core/icons.js";
import { exactMoment } from "../core/times.js";

/**
 * @typedef {{onTime: (timestamp: string, url?: string) => void}} Listener the user chose a capture by its time, or a day, month or
 *   year; `url`: if it isn't that of the page
 */

/** Pads a timestamp, so that timestamps with and without milliseconds compare as text. */
export const digits = ({ timestamp }) => timestamp.padEnd(17, "0");

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {HTMLElement} place
 * @param {Listener} listener
 */
export function createCaptureChip(archive, place, { onTime }) {
    // What is shown, for the popover.
    const current = { capture: null };
    let opened = null;
    const time = make("time");
    const clock = make("span", { class: "clock" });
    const position = make("span", { class: "position" });
    const chip = make("button", { type: "button", class: "capture-chip", "aria-haspopup": "dialog" }, time, clock, position);
    const previous = step("back", "viewer.previous-capture");
    const next = step("forward", "viewer.next-capture");
    const only = make("time");
    // What opens at the chip stays in its place while reports of the page repeat.
    const chipPlace = make("span", { class: "chip-place" }, chip);
    openOnDemand(chip, async () => {
        const [{ capturesPopover }] = await Promise.all([import("./captures-popover.js"), loadStyles("viewer/captures.css")]);
        opened = capturesPopover(chip, archive, current, onTime);
    });

    function step(shape, key) {
        return make("button", { type: "button", class: "tool step", "aria-label": message(key), title: message(key),
            on: { click: ({ currentTarget: { dataset } }) => onTime(dataset.timestamp, dataset.request) } }, icon(shape));
    }

    function setStep(button, capture) {
        // A button that is disabled would lose the focus to the page.
        if (!capture && document.activeElement === button) chip.focus();
        button.disabled = !capture;
        button.dataset.timestamp = capture?.timestamp ?? "";
        if (capture?.request) button.dataset.request = capture.request;
        else delete button.dataset.request;
    }

    /** @returns {HTMLElement[]} what is shown for the capture */
    function show(capture, list) {
        const { capturedAt } = capture;
        const before = list.captures.findLast((one) => digits(one) < digits(capture));
        const after = list.captures.find((one) => digits(one) > digits(capture));
        for (const each of [time, only]) {
            each.dateTime = capturedAt;
            each.title = exactMoment(capturedAt);
        }
        setText(only, moment(capturedAt));
        // Captures of one time are those of several forms of the URL, of which replay shows one.
        if (!before && !after && list.total <= list.captures.length) return [only];
        setText(time, shortDay(capturedAt));
        const isOnSameDay = [before, after].some((one) => one && shortDay(one.capturedAt) === shortDay(capturedAt));
        setText(clock, isOnSameDay ? `, ${formatted(capturedAt, "clock")}` : "");
        setText(position, ` · ${positionText(capture, list)}`);
        setStep(previous, before);
        setStep(next, after);
        return [previous, chipPlace, next];
    }

    return {
        /**
         * @param {import("../core/api.js").Capture} [capture]
         * @param {import("../core/api.js").CaptureList} [list] captures of the same URL around it
         */
        set(capture, list) {
            const isSame = capture?.timestamp === current.capture?.timestamp && capture?.url === current.capture?.url;
            if (!isSame) opened?.close();
            current.capture = capture ?? null;
            arrange(place, capture ? show(capture, list) : []);
        },

        /** Opens the calendar, if there are several captures. */
        open: () => chip.isConnected && chip.click(),

        /** @param {number} count -1 for the previous capture, 1 for the next one */
        step: (count) => previous.isConnected && (count < 0 ? previous : next).click(),
    };
}

function positionText({ url, timestamp, request }, { captures, position, total }) {
    const atTime = captures.findIndex((one) => one.timestamp === timestamp);
    const exactly = captures.findIndex((one) => one.timestamp === timestamp && one.url === url && one.request === request);
    const index = exactly < 0 ? atTime : exactly;
    return index < 0 ? message("viewer.capture-count", { n: total })
        : message("viewer.capture-position", { position: position + index + 1, n: total });
}
