/** The fields of the settings: defaults of new downloads, what goes with a running one, and how the queue is sent. */
import { make } from "../app/core/dom.js";
import { message } from "../app/core/i18n.js";
import { changePreferences, minutesOf, preferences } from "./preferences.js";

const heights = [2160, 1440, 1080, 720, 480, 360, 240, 144];
const list = (...values) => values.map((value) => [value, value.toUpperCase()]);
const named = (prefix, ...values) => values.map((value) => [value, message(`capture.settings.${prefix}-${value}`)]);

/** Sections, with the kind of each field, and the values of lists. */
const sections = () => ({
    defaults: {
        form: named("form", "video", "audio"),
        height: "height",
        container: list("mp4", "mkv", "webm"),
        audioContainer: list("m4a", "mp3", "opus", "flac", "wav"),
        audioQuality: [["44.1k", "44.1 kHz"], ["48k", "48 kHz"], ["96k", "96 kHz"], ["lossless", message("capture.options.quality-lossless")]],
        allowedDomains: "text",
    },
    running: {
        isVibrationOn: "switch",
        vibration: named("vibration", "light", "medium", "heavy"),
        isProgressShown: "switch",
        areToastsOn: "switch",
        toastMinutes: "minutes",
    },
    queue: {
        autoRetry: "switch",
        backgroundSync: "switch",
        maxRetries: "number",
        clearConfirmedAfter: "hours",
    },
    page: { language: [["auto", message("capture.settings.language-auto")], ["en", "English"], ["ja", "日本語"]] },
});

const dashed = (key) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * @param {{onChanged: (key: string) => void}} host
 * @returns {HTMLElement[]} one element for each section
 */
export function settingsSections({ onChanged }) {
    return Object.entries(sections()).map(([name, fields]) => make("section", { class: "sheet", "aria-labelledby": `settings-${name}` },
        make("h2", { id: `settings-${name}`, text: message(`capture.settings.${name}`) }),
        make("div", { class: "settings-fields" }, ...Object.entries(fields).map(([key, kind]) => field(key, kind, onChanged)))));
}

function field(key, kind, onChanged) {
    const id = `setting-${dashed(key)}`;
    const value = preferences()[key];
    const text = message(`capture.settings.${dashed(key)}`);
    const change = (changed) => {
        changePreferences({ [key]: changed });
        onChanged(key);
    };
    if (kind === "switch") {
        const box = make("input", { id, type: "checkbox", checked: value, on: { change: () => change(box.checked) } });
        return make("div", { class: "choice" }, box, make("label", { for: id, text }));
    }
    const control = Array.isArray(kind) ? listOf(id, kind, value, change) : kind === "height" ? heightField(id, value, change) : textField(id, kind, value, change);
    return make("div", {}, make("label", { for: id, text }), control);
}

function listOf(id, options, value, change) {
    const control = make("select", { id, on: { change: () => change(control.value) } }, ...options.map(([each, text]) => make("option", { value: each, text })));
    control.value = value;
    return control;
}

/** A list of usual heights, or any number. */
function heightField(id, value, change) {
    const choices = make("datalist", { id: `${id}-list` }, ...heights.map((height) => make("option", { value: height })));
    const control = make("input", { id, type: "number", min: 0, max: 4320, list: choices.id, value, inputmode: "numeric", on: { change: () => {
        const height = Number(control.value);
        const isValid = height === 0 || Number.isInteger(height) && height >= 144 && height <= 4320;
        control.toggleAttribute("aria-invalid", !isValid);
        if (isValid) change(height);
    } } });
    return make("div", { class: "with-unit" }, control, choices, make("span", { class: "quiet", text: message("capture.settings.height-unit") }));
}

function textField(id, kind, value, change) {
    const shown = kind === "hours" ? value / 3600 : value;
    const isNumber = kind === "number" || kind === "hours";
    const control = make("input", { id, type: isNumber ? "number" : "text", min: isNumber ? 1 : null, value: shown, autocapitalize: "none",
        autocomplete: "off", spellcheck: "false", on: { change: () => {
            const text = control.value.trim();
            const isValid = isNumber ? Number.isInteger(Number(text)) && Number(text) >= 1 : kind !== "minutes" || text === "" || minutesOf(text).length > 0;
            control.toggleAttribute("aria-invalid", !isValid);
            if (isValid) change(kind === "hours" ? Number(text) * 3600 : isNumber ? Number(text) : text);
        } } });
    return control;
}
