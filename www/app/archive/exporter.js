/** Saves an archive or a collection, or a part of it, as a file. Says below the head how far that is. */
import { showDialog } from "../components/dialog.js";
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { completeURL } from "../core/captures.js";
import { announce, make, plain } from "../core/dom.js";
import { moment, size } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { exactMoment } from "../core/times.js";
import { typeName, typeNames } from "./type-names.js";

const linesMax = 10;
const typingMilliseconds = 200;

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {{element: HTMLElement, prepare: (order: Object<string, string|undefined>) => Promise<void>,
 *   askForPage: (capture?: import("../core/api.js").Capture|null) => Promise<void>, askForFiles: () => Promise<void>, close: () => void}}
 *   `askForPage` proposes a capture; `close` stops what is being prepared
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

    async function askForPage(capture) {
        const proposed = capture ? { url: capture.request ?? capture.url, timestamp: capture.timestamp } : item.mainPage;
        const url = make("input", { type: "text", id: "export-url", inputmode: "url", autocapitalize: "none", autocomplete: "off",
            spellcheck: "false", dir: "ltr", required: true, value: proposed?.url ?? "", placeholder: "https://example.org/" });
        const time = timeChoice(item, proposed);
        url.addEventListener("input", () => time.show(completeURL(url.value)));
        time.show(url.value);
        const answer = await showDialog({
            title: message("export.page-title"),
            body: [make("p", { class: "quiet", text: message("export.page-note") }),
                make("label", { for: url.id, text: message("export.page-url") }), url, time.element],
            action: { value: "save", text: message("export.page-action") },
        });
        time.close();
        const wanted = completeURL(url.value);
        if (answer === "save" && url.value.trim()) await prepare({ kind: "page", url: wanted, timestamp: time.timestampOf(wanted) });
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

/**
 * Chooses one of the captures of a URL. Until they are known, and for other URLs, it's the proposed one or the latest.
 *
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {{url: string, timestamp?: string}} [proposed]
 */
function timeChoice(item, proposed) {
    const select = make("select", { id: "export-time" });
    const element = make("div", { hidden: true }, make("label", { for: select.id, text: message("export.page-time") }), select);
    const proposedTime = (url) => (url === proposed?.url && proposed.timestamp) || "";
    let timer;
    let shownURL = null;

    async function load(url) {
        const list = await api.captures(item, url, { closest: proposedTime(url) }).catch(() => null);
        if (url !== shownURL) return;
        const times = [...new Map(list?.captures.map((capture) => [capture.timestamp, capture])).values()];
        const minutes = new Set(times.map(({ capturedAt }) => moment(capturedAt)));
        const text = minutes.size === times.length ? moment : exactMoment;
        select.replaceChildren(...times.map(({ timestamp, capturedAt }) => make("option", { value: timestamp, text: text(capturedAt) })));
        select.value = list?.closest?.timestamp ?? "";
        element.hidden = times.length === 0;
    }

    return {
        element,

        show(url) {
            if (url === shownURL) return;
            const isFirst = shownURL === null;
            [shownURL, element.hidden] = [url, true];
            select.replaceChildren();
            clearTimeout(timer);
            timer = setTimeout(load, isFirst ? 0 : typingMilliseconds, url);
        },

        /** @returns {string|undefined} the chosen time; `undefined` for the latest */
        timestampOf: (url) => (url === shownURL && select.value || proposedTime(url)) || undefined,

        close: () => clearTimeout(timer),
    };
}

/** What was made, with a link to it. */
function outcome({ url, name, size: bytes, result }, kind) {
    const list = (title, texts) => texts.length > 0 && make("div", {}, make("p", { text: title }),
        make("ul", {}, ...texts.slice(0, linesMax).map((text) => make("li", { text: plain(text, 400) })),
            texts.length > linesMax && make("li", { text: message("export.more", { n: texts.length - linesMax }) })));
    const contents = [result.pageCount !== undefined && message("count.pages", { n: result.pageCount }),
        result.captureCount !== undefined && message("count.captures", { n: result.captureCount }),
        result.page?.capturedAt && message("export.captured", { time: exactMoment(result.page.capturedAt) }),
        result.fileCount !== undefined && message("count.files", { n: result.fileCount }), size(bytes)].filter(Boolean).join(" · ");
    return [make("div", {}, make("p", {}, ...messageParts("export.made", { contents }, {
        file: () => make("a", { href: url, download: plain(name), text: plain(name) }) })),
    kind === "repaired" && result.changes.length === 0 && make("p", { text: message("export.nothing-repaired") }),
    list(message("export.changes"), result.changes), list(message("export.missing"), result.missing),
    list(message("export.damaged"), result.findings.map(({ what }) => what)))];
}
