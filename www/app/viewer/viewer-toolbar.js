/** The viewer's toolbar: archive, history buttons, URL and capture time. */
import { openOnDemand } from "../components/on-demand.js";
import { isSingleKey } from "../components/shortcuts.js";
import { captureTrust, trustMark } from "../components/trust-mark.js";
import * as api from "../core/api.js";
import { isFromElsewhere } from "../core/captures.js";
import { arrange, loadStyles, make, plain, setText } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { icon } from "../core/icons.js";
import { tabURL } from "../core/routes.js";
import { exactURL, plainURL } from "../core/text.js";
import { createCaptureChip } from "./capture-chip.js";

// When the parts of a page are asked for: most are loaded in the first seconds.
const secondsUntilParts = [1, 3, 10];

/**
 * @param {import("../core/api.js").Archive} archive
 * @param {{onOpen: (typed: string) => void, onLeave: () => void, onReload: () => void, onPrint: () => void, onExport: () => void}
 *   & import("./capture-chip.js").Listener} listener
 */
export function createToolbar(archive, { onOpen, onLeave, onReload, onPrint, onExport, onTime }) {
    const title = plain(archive.title) || archive.id;
    const button = (shape, label, action) => make("button", { type: "button", class: "tool", "aria-label": label,
        title: label, on: { click: action } }, icon(shape));
    const picture = make("img", { class: "favicon", alt: "", width: 16, height: 16, hidden: true });
    const input = make("input", { type: "text", inputmode: "url", "aria-label": message("viewer.url", { kind: archive.kind }),
        autocapitalize: "none", autocomplete: "off", spellcheck: "false", enterkeyhint: "go", dir: "ltr" });
    const form = make("form", { class: "url-bar", role: "search" }, picture, input);
    const when = make("div", { class: "capture-time" });
    const captured = make("span", { class: "label", text: message("viewer.captured") });
    const choice = make("span", { class: "capture-choice" });
    const chip = createCaptureChip(archive, choice, { onTime });
    const element = make("header", { class: "toolbar" },
        make("h1", { class: "visually-hidden", text: title }),
        make("nav", { class: "location", "aria-label": message("app.breadcrumbs") },
            make("a", { class: "tool", href: "/", "aria-label": message("library.title"), title: message("library.title") }, icon("library")),
            make("a", { class: "archive-name", href: tabURL(archive, "pages"), text: title,
                title: message("viewer.pages-of", { title }) })),
        make("div", { class: "tools" },
            button("back", message("viewer.back"), () => history.back()),
            button("forward", message("viewer.forward"), () => history.forward()),
            button("reload", message("viewer.reload"), onReload),
            button("print", message("viewer.print"), onPrint),
            archive.kind === "archive" && button("save", message("viewer.export"), onExport)),
        form, when);

    /** The mark of the capture, in the archive that has it. */
    function markOf(capture) {
        const { url, request, archive: member } = capture;
        const isCollection = archive.kind === "collection";
        const holder = isCollection ? archive.members.find(({ id }) => id === member) : archive;
        // A new archive is verified soon, which the toolbar doesn't follow.
        const isMember = isCollection && archive.members.length > 1;
        const mark = holder && (holder.verification !== "not-verified" || capture.uncovered)
            && trustMark(holder, { page: { ...capture, url: request ?? url }, isMember });
        if (mark && isMember) followParts(mark, holder, capture);
        return mark;
    }

    /** Makes the mark say that parts of the page come from other archives, once one has been loaded. */
    async function followParts(mark, holder, capture) {
        for (const seconds of secondsUntilParts) {
            await new Promise((done) => setTimeout(done, seconds * 1000));
            if (!mark.isConnected) return;
            const found = await api.parts(archive, capture).catch(() => null);
            if (!found?.parts.some((part) => isFromElsewhere(part, capture))) continue;
            setText(mark.querySelector("button span"), message("trust.mixed-mark", { result: captureTrust(holder, capture).text }));
            return;
        }
    }

    function infoButton(capture, { similarTo }) {
        const button = make("button", { type: "button", class: "tool page-info-button", "aria-label": message("viewer.info"), title: message("viewer.info") },
            icon("info"));
        openOnDemand(button, async () => {
            const [{ pageInfo }] = await Promise.all([import("./page-info.js"), loadStyles("viewer/page-info.css")]);
            pageInfo(button, archive, capture, similarTo);
        });
        return make("span", { class: "trust-place" }, button);
    }

    function handleKey(event) {
        if (element.offsetParent === null) return;
        const step = { PageUp: -1, PageDown: 1 }[event.key];
        const isStep = step && event.altKey && !event.ctrlKey && !event.shiftKey && !event.metaKey;
        if (isStep && !event.defaultPrevented && !event.target.closest?.("dialog, [popover]")) {
            event.preventDefault();
            chip.step(step);
        }
        if (!isSingleKey(event)) return;
        if (event.key === "i") when.querySelector(".page-info-button")?.click();
        if (event.key === "c") chip.open();
    }
    document.addEventListener("keydown", handleKey);

    // The text in the URL field, its URL, and the capture that mark and page info are about.
    let shownText = "";
    let shownURL = "";
    let shownCapture = "";
    let about = [];
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        const typed = input.value.trim();
        if (!typed) return;
        input.blur();
        onOpen(typed === shownText ? shownURL : typed);
    });
    input.addEventListener("focus", () => input.select());
    // The URL is copied as it is, not as it is shown.
    input.addEventListener("copy", (event) => {
        const isWhole = input.selectionStart === 0 && input.selectionEnd === input.value.length;
        if (!isWhole || input.value !== shownText) return;
        event.preventDefault();
        event.clipboardData.setData("text/plain", exactURL(shownURL));
    });
    input.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") return;
        input.value = shownText;
        input.blur();
        onLeave();
    });

    return {
        element,

        /** @param {string} url the caller has checked that the index confirms it */
        setURL(url) {
            const text = plainURL(url);
            if (document.activeElement !== input || input.value === shownText) input.value = text;
            shownText = text;
            shownURL = url;
        },

        /**
         * @param {import("../core/api.js").Capture} [shown]
         * @param {import("../core/api.js").CaptureList} [near] captures of the same URL around it
         */
        setTime(shown, near) {
            const next = shown ? `${shown.timestamp} ${shown.url} ${near.total} ${shown.archive} ${shown.verification} ${shown.uncovered}` : "";
            // Reports repeat. What may be open stays.
            if (next !== shownCapture) about = shown ? [markOf(shown), infoButton(shown, near)].filter(Boolean) : [];
            shownCapture = next;
            chip.set(shown, near);
            arrange(when, shown ? [captured, choice, ...about] : []);
        },

        /** @param {string} address a `blob:` URL, or empty */
        setIcon(address) {
            picture.hidden = !address;
            if (address) picture.src = address;
            else picture.removeAttribute("src");
        },

        focus: () => input.focus(),

        stepCapture: chip.step,

        close: () => document.removeEventListener("keydown", handleKey),

        /** @param {boolean} busy */
        setBusy(busy) {
            element.classList.toggle("busy", busy);
        },
    };
}
