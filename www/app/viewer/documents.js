/** Shows captures that aren't pages: PDF documents, and files that browsers save. */
import { answerOf } from "../core/answer.js";
import { isPDF } from "../core/captures.js";
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { icon } from "../core/icons.js";
import { plainURL } from "../core/text.js";

const signature = "%PDF-";
const signatureBytesMax = 1024;

/** Whether the capture starts like a PDF. The type in the index may be wrong. */
async function beginsLikePDF(archive, capture) {
    try {
        const answer = await fetch(`/c/${archive.id}/${capture.timestamp}id_/${capture.url}`,
            { headers: { Range: `bytes=0-${signatureBytesMax - 1}` } });
        const reader = answer.body.getReader();
        let start = "";
        for (;;) {
            const { value, done } = await reader.read();
            start += String.fromCharCode(...(value ?? []).slice(0, signatureBytesMax));
            if (done || start.length >= signatureBytesMax) break;
        }
        reader.cancel().catch(() => {});
        return answer.ok && start.slice(0, signatureBytesMax).includes(signature);
    } catch {
        return false;
    }
}

/** Links in a PDF open in the whole tab, so the browser asks before it leaves. A clicked PDF has the focus. */
function askBeforeLeaving(event) {
    if (document.activeElement?.closest(".pdf-panel")) event.preventDefault();
}

/** Returns why the capture isn't shown as a page. */
function reason(capture) {
    if ([204, 205].includes(answerOf(capture).status)) return message("viewer.no-content");
    return message(isPDF(capture) ? "viewer.pdf-elsewhere" : "viewer.not-page-text");
}

/**
 * Returns a frame that shows a PDF document, or a panel with a download link for other files.
 *
 * Browsers show no PDF in a sandboxed frame. This frame has no sandbox, so it's on `127.0.0.1`, an origin without archived
 * pages, where the server sends only PDF.
 *
 * @param {import("../core/api.js").Archive} archive
 * @param {import("../core/api.js").Capture} capture
 * @returns {Promise<HTMLElement>}
 */
export async function documentPanel(archive, capture) {
    if (isPDF(capture) && navigator.pdfViewerEnabled && await beginsLikePDF(archive, capture)) {
        window.addEventListener("beforeunload", askBeforeLeaving);
        const port = location.port && `:${location.port}`;
        return make("div", { class: "panel pdf-panel" },
            make("h1", { class: "visually-hidden", text: message("viewer.pdf") }),
            make("iframe", { title: message("viewer.pdf"), allow: "fullscreen", referrerpolicy: "origin",
                src: `http://127.0.0.1${port}/pdf/${archive.id}/${capture.timestamp}/${capture.url}` }));
    }
    return make("div", { class: "panel document-panel" }, make("div", { class: "panel-content" }, icon("file"),
        make("h1", { tabindex: "-1", text: message(isPDF(capture) ? "viewer.pdf" : "viewer.not-page") }),
        make("p", { class: "url wrap", dir: "ltr", text: plainURL(capture.url, 600) }),
        make("p", { text: reason(capture) }),
        make("p", { class: "panel-actions" },
            make("a", { class: "button primary", target: "_blank", rel: "noopener", text: message("viewer.save-copy"),
                href: `${archive.replayOrigin}/c/${archive.id}/${capture.timestamp}dl_/${capture.url}` }))));
}
