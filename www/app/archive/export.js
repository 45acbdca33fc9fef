/** Saves an archive or a collection, or a part of it, as a file. */
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { completeURL } from "../core/captures.js";
import { announce, make, plain } from "../core/dom.js";
import { counted, size } from "../core/format.js";

const types = { "": "All types", html: "HTML", pdf: "PDF", image: "Images", audio: "Audio", video: "Video", font: "Fonts",
    script: "Scripts", style: "Style sheets", json: "JSON", text: "Other text" };

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {{element: HTMLElement, close: () => void}} `close` stops what is being prepared
 */
export function exportSection(item) {
    const status = make("div", { class: "export-status", role: "status" });
    const url = make("input", { type: "text", id: "export-url", inputmode: "url", autocapitalize: "none", autocomplete: "off",
        spellcheck: "false", dir: "ltr", value: item.mainPage?.url ?? "", placeholder: "https://example.org/" });
    const type = make("select", { id: "export-type" },
        ...Object.entries(types).map(([value, text]) => make("option", { value, text })));
    let running = null;

    async function prepare(order) {
        running?.abort();
        const stop = running = new AbortController();
        const cancel = make("button", { type: "button", class: "plain", text: "Cancel", on: { click: () => stop.abort() } });
        status.replaceChildren(make("p", {}, "Preparing the file… ", cancel));
        try {
            const prepared = await api.prepareExport(item, order, stop.signal);
            status.replaceChildren(...outcome(prepared, order.kind));
            announce(`${plain(prepared.name)} is ready.`);
            status.querySelector("a").click();
        } catch (error) {
            if (running !== stop) return;
            status.replaceChildren(stop.signal.aborted ? make("p", { class: "quiet", text: "Cancelled." })
                : errorBlock(error, "Couldn't prepare the file"));
        }
    }

    const button = (text, order) => make("button", { type: "button", text, on: { click: () => prepare(order()) } });
    const form = (label, input, text, order) => make("form", { class: "url-form", on: {
        submit: (event) => {
            event.preventDefault();
            if (order()) prepare(order());
        },
    } }, make("label", { for: input.id, text: label }), make("div", { class: "joined" }, input, make("button", { type: "submit", text })));

    const choices = item.kind === "collection" ? [
        make("p", { class: "quiet note", text: "All archives of this collection in one file (multi-WACZ)." }),
        button("Save collection", () => ({})),
    ] : [
        make("div", { class: "export-row" },
            make("a", { class: "button", href: `/archives/${item.id}.wacz`, download: item.originalName || `${item.id}.wacz`,
                text: "Save the file" }),
            button("Save a repaired copy", () => ({ kind: "repaired" }))),
        make("p", { class: "quiet note", text: "A repaired copy has a new index, a page list if there is none, and the right hashes. "
            + "The captured data stays as it is." }),
        form("Save one page, with what it needs, as an archive of its own", url, "Save page",
            () => url.value.trim() && { kind: "page", url: completeURL(url.value) }),
        form("Save the captured files in a ZIP", type, "Save files", () => ({ kind: "files", type: type.value || undefined })),
    ];
    const element = make("details", { class: "export" }, make("summary", { text: "Save or export" }),
        make("div", { class: "export-body" }, ...choices, status));
    return { element, close: () => running?.abort() };
}

/** What was made, with a link to it. */
function outcome({ url, name, size: bytes, result }, kind) {
    const list = (title, texts) => texts.length > 0 && make("div", {}, make("p", { text: title }),
        make("ul", {}, ...texts.slice(0, 10).map((text) => make("li", { text: plain(text, 400) })),
            texts.length > 10 && make("li", { text: `and ${texts.length - 10} more` })));
    const contents = [result.pageCount !== undefined && counted(result.pageCount, "page"),
        result.captureCount !== undefined && counted(result.captureCount, "capture"),
        result.fileCount !== undefined && counted(result.fileCount, "file"), size(bytes)].filter(Boolean).join(", ");
    return [make("p", {}, make("a", { href: url, download: plain(name), text: plain(name) }), ` (${contents})`),
        kind === "repaired" && result.changes.length === 0 && make("p", { text: "Nothing was missing or wrong." }),
        list("What changed:", result.changes), list("Not captured, although the page may need it:", result.missing),
        list("Damaged:", result.findings.map(({ what }) => what))].filter(Boolean);
}
