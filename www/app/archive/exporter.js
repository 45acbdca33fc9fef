/** Saves an archive or a collection, or a part of it, as a file. Says below the head how far that is. */
import { showDialog } from "../components/dialog.js";
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { completeURL } from "../core/captures.js";
import { announce, make, plain } from "../core/dom.js";
import { size } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { typeName, typeNames } from "./type-names.js";

const linesMax = 10;

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {{element: HTMLElement, prepare: (order: Object<string, string|undefined>) => Promise<void>, askForPage: () => Promise<void>,
 *   askForFiles: () => Promise<void>, close: () => void}} `close` stops what is being prepared
 */
export function createExporter(item) {
    const element = make("div", { class: "export-status", role: "status" });
    let running = null;

    async function prepare(order) {
        running?.abort();
        const stop = running = new AbortController();
        const cancel = make("button", { type: "button", class: "plain", text: message("dialog.cancel"), on: { click: () => stop.abort() } });
        show(make("p", { text: message("export.preparing") }), cancel);
        element.scrollIntoView({ block: "nearest" });
        try {
            const prepared = await api.prepareExport(item, order, stop.signal);
            show(...outcome(prepared, order.kind), dismiss());
            announce(message("export.ready", { name: plain(prepared.name) }));
            element.querySelector("a").click();
        } catch (error) {
            if (running !== stop) return;
            show(stop.signal.aborted ? make("p", { text: message("export.cancelled") }) : errorBlock(error, message("export.failed")),
                dismiss());
        }
    }

    const show = (...children) => element.replaceChildren(make("div", { class: "status-line" }, ...children));
    const dismiss = () => make("button", { type: "button", class: "plain", "aria-label": message("toast.dismiss"), text: "×",
        on: { click: () => element.replaceChildren() } });

    async function askForPage() {
        const url = make("input", { type: "text", id: "export-url", inputmode: "url", autocapitalize: "none", autocomplete: "off",
            spellcheck: "false", dir: "ltr", required: true, value: item.mainPage?.url ?? "", placeholder: "https://example.org/" });
        const answer = await showDialog({
            title: message("export.page-title"),
            body: [make("p", { class: "quiet", text: message("export.page-note") }),
                make("label", { for: url.id, text: message("export.page-url") }), url],
            action: { value: "save", text: message("export.page-action") },
        });
        if (answer === "save" && url.value.trim()) await prepare({ kind: "page", url: completeURL(url.value) });
    }

    async function askForFiles() {
        const type = make("select", { id: "export-type" }, make("option", { value: "", text: message("type.all") }),
            ...typeNames.filter((name) => name !== "other").map((name) => make("option", { value: name, text: typeName(name) })));
        const answer = await showDialog({
            title: message("export.files-title"),
            body: [make("p", { class: "quiet", text: message("export.files-note") }),
                make("label", { for: type.id, text: message("export.files-type") }), type],
            action: { value: "save", text: message("export.files-action") },
        });
        if (answer === "save") await prepare({ kind: "files", type: type.value || undefined });
    }

    return { element, prepare, askForPage, askForFiles, close: () => running?.abort() };
}

/** What was made, with a link to it. */
function outcome({ url, name, size: bytes, result }, kind) {
    const list = (title, texts) => texts.length > 0 && make("div", {}, make("p", { text: title }),
        make("ul", {}, ...texts.slice(0, linesMax).map((text) => make("li", { text: plain(text, 400) })),
            texts.length > linesMax && make("li", { text: message("export.more", { n: texts.length - linesMax }) })));
    const contents = [result.pageCount !== undefined && message("count.pages", { n: result.pageCount }),
        result.captureCount !== undefined && message("count.captures", { n: result.captureCount }),
        result.fileCount !== undefined && message("count.files", { n: result.fileCount }), size(bytes)].filter(Boolean).join(" · ");
    return [make("div", {}, make("p", {}, ...messageParts("export.made", { contents }, {
        file: () => make("a", { href: url, download: plain(name), text: plain(name) }) })),
    kind === "repaired" && result.changes.length === 0 && make("p", { text: message("export.nothing-repaired") }),
    list(message("export.changes"), result.changes), list(message("export.missing"), result.missing),
    list(message("export.damaged"), result.findings.map(({ what }) => what)))];
}
