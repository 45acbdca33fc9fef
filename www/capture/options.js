/** The options of a download. Only choices that differ from the defaults are sent. */
import { make } from "../app/core/dom.js";
import { language, message } from "../app/core/i18n.js";
import { changePreferences, preferences } from "./preferences.js";

// The server's choice is first.
const containers = {
    video: [["", ""], ["mp4", "MP4"], ["mkv", "Matroska (MKV)"], ["webm", "WebM"]],
    audio: [["", "M4A"], ["mp3", "MP3"], ["opus", "Opus"], ["flac", "FLAC"], ["wav", "WAV"]],
    lossless: [["", "FLAC"], ["wav", "WAV"]],
};
// Sample rates that a format can't have.
const impossible = { "44.1k": ["opus"], "96k": ["opus", "mp3"] };
const heightMin = 144;
const heightMax = 4320;

/**
 * @returns {{read: () => Omit<import("./api.js").Order, "url">|null, reset: () => void, offerPreview: () => void}} `read` returns
 *   `null` after an invalid choice, which has the focus then; `reset` chooses the defaults of the settings; `offerPreview`: the
 *   server has previews
 */
export function createOptions() {
    const element = document.getElementById("options");
    const summary = element.querySelector("summary");
    const [mode, form, height, pixels, quality, container, user, preview] =
        ["mode", "form", "height", "pixels", "audio-quality", "container", "user", "preview"].map((id) => document.getElementById(id));
    const hint = document.getElementById("user-hint");

    const isPage = () => mode.value === "page";
    const isAudio = () => !isPage() && form.value === "audio";
    const isUserValid = () => /^[a-z0-9]*$/i.test(user.value.trim());
    const isOther = () => height.value === "other";
    const chosenHeight = () => (isOther() ? Number(pixels.value) : Number(height.value));
    const isHeightValid = () => isPage() || isAudio() || !isOther() || chosenHeight() >= heightMin && chosenHeight() <= heightMax;

    function showContainers() {
        const left = isAudio() ? impossible[quality.value] ?? [] : [];
        const possible = containers[!isAudio() ? "video" : quality.value === "lossless" ? "lossless" : "audio"]
            .filter(([value]) => !left.includes(value));
        const chosen = container.value;
        container.replaceChildren(...possible.map(([value, text]) => make("option", { value, text: text || message("capture.options.mode-automatic") })));
        container.value = possible.some(([value]) => value === chosen) ? chosen : "";
    }

    function show() {
        for (const field of element.querySelectorAll("[data-for]")) {
            const { for: kind } = field.dataset;
            field.hidden = isPage() || kind !== "media" && (kind === "audio") !== isAudio();
        }
        pixels.parentElement.hidden ||= !isOther();
        pixels.toggleAttribute("aria-invalid", !isHeightValid());
        showContainers();
        const textOf = (list) => list.value && list.selectedOptions[0].text;
        const media = isPage() ? [] : [isAudio() && message("capture.options.audio-only"), isAudio() ? textOf(quality)
            : isOther() ? pixels.value && `${pixels.value}p` : textOf(height), textOf(container)];
        const choices = [preview.checked && message("capture.options.preview-only"), mode.value && textOf(mode).toLowerCase(), ...media,
            user.value.trim() && message("capture.options.for-user", { user: user.value.trim() })].filter(Boolean);
        // The closed options don't hide what is chosen.
        summary.textContent = choices.length === 0 ? message("capture.options.title")
            : message("capture.options.chosen", { choices: new Intl.ListFormat(language, { style: "short", type: "unit" }).format(choices) });
        user.toggleAttribute("aria-invalid", !isUserValid());
        hint.classList.toggle("invalid", !isUserValid());
    }

    element.addEventListener("change", show);
    for (const field of [user, pixels]) field.addEventListener("input", show);
    user.addEventListener("change", () => {
        if (isUserValid()) changePreferences({ user: user.value.trim() });
    });

    function reset() {
        const chosen = preferences();
        user.value = chosen.user;
        form.value = chosen.form === "audio" ? "audio" : "";
        height.value = String(chosen.height || "");
        if (height.selectedIndex < 0) {
            height.value = "other";
            pixels.value = String(chosen.height);
        }
        quality.value = chosen.audioQuality;
        showContainers();
        const wanted = chosen.form === "audio" ? chosen.audioContainer : chosen.container;
        // What the server chooses by itself isn't sent.
        container.value = wanted !== "mp4" && [...container.options].some(({ value }) => value === wanted) ? wanted : "";
        show();
    }
    reset();

    return {
        reset,
        offerPreview: () => {
            preview.parentElement.hidden = false;
        },
        read() {
            const invalid = isUserValid() ? isHeightValid() ? null : pixels : user;
            if (invalid) {
                element.open = true;
                invalid.focus();
                return null;
            }
            const media = isPage() ? {} : {
                form: isAudio() && "audio",
                height: !isAudio() && chosenHeight(),
                container: container.value,
                audio_quality: isAudio() && quality.value,
            };
            const options = Object.entries({ mode: mode.value, ...media, disposition: preview.checked && "preview" }).filter(([, value]) => value);
            const username = user.value.trim();
            return {
                ...(username ? { username } : {}),
                ...(options.length > 0 ? { options: Object.fromEntries(options) } : {}),
            };
        },
    };
}
