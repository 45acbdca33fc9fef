/** The options of a download. Only choices that differ from the defaults are sent. */
import { make } from "/app/core/dom.js";
import { language, message } from "/app/core/i18n.js";

// The server's choice is first.
const containers = {
    video: [["", ""], ["mp4", "MP4"], ["mkv", "Matroska (MKV)"], ["webm", "WebM"]],
    audio: [["", "M4A"], ["mp3", "MP3"], ["opus", "Opus"], ["flac", "FLAC"], ["wav", "WAV"]],
    lossless: [["", "FLAC"], ["wav", "WAV"]],
};
// Sample rates that a format can't have.
const impossible = { "44.1k": ["opus"], "96k": ["opus", "mp3"] };
const userKey = "replayhost-capture-user";

/** @returns {{read: () => Omit<import("./api.js").Order, "url">|null}} `null` after an invalid choice, which has the focus then */
export function createOptions() {
    const element = document.getElementById("options");
    const summary = element.querySelector("summary");
    const [mode, form, height, quality, container, user] = ["mode", "form", "height", "audio-quality", "container", "user"]
        .map((id) => document.getElementById(id));
    const hint = document.getElementById("user-hint");

    const isPage = () => mode.value === "page";
    const isAudio = () => !isPage() && form.value === "audio";
    const isUserValid = () => /^[a-z0-9]*$/i.test(user.value.trim());

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
        showContainers();
        const textOf = (list) => list.value && list.selectedOptions[0].text;
        const media = isPage() ? [] : [isAudio() && message("capture.options.audio-only"), isAudio() ? textOf(quality) : textOf(height), textOf(container)];
        const choices = [mode.value && textOf(mode).toLowerCase(), ...media,
            user.value.trim() && message("capture.options.for-user", { user: user.value.trim() })].filter(Boolean);
        // The closed options don't hide what is chosen.
        summary.textContent = choices.length === 0 ? message("capture.options.title")
            : message("capture.options.chosen", { choices: new Intl.ListFormat(language, { style: "short", type: "unit" }).format(choices) });
        user.toggleAttribute("aria-invalid", !isUserValid());
        hint.classList.toggle("invalid", !isUserValid());
    }

    element.addEventListener("change", show);
    user.addEventListener("input", show);
    user.addEventListener("change", () => {
        if (isUserValid()) remember(user.value.trim());
    });
    user.value = remembered();
    show();

    return {
        read() {
            if (!isUserValid()) {
                element.open = true;
                user.focus();
                return null;
            }
            const media = isPage() ? {} : {
                form: isAudio() && "audio",
                height: !isAudio() && Number(height.value),
                container: container.value,
                audio_quality: isAudio() && quality.value,
            };
            const options = Object.entries({ mode: mode.value, ...media }).filter(([, value]) => value);
            const username = user.value.trim();
            return {
                ...(username ? { username } : {}),
                ...(options.length > 0 ? { options: Object.fromEntries(options) } : {}),
            };
        },
    };
}

// Browsers can refuse storage.
function remembered() {
    try {
        return localStorage.getItem(userKey) ?? "";
    } catch {
        return "";
    }
}

function remember(name) {
    try {
        localStorage.setItem(userKey, name);
    } catch {
        // The name is remembered until the page is closed.
    }
}
