/** The captured files of an archive or collection: images as a grid, others as a list. */
import "../messages/en/archive.js";
import { cursorReader } from "../components/cursor-reader.js";
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { decodeName } from "../core/captures.js";
import { announce, make, plain } from "../core/dom.js";
import { day } from "../core/format.js";
import { hostOf } from "../core/hosts.js";
import { message } from "../core/i18n.js";
import { pageURL, tabURL } from "../core/routes.js";
import { plainURL } from "../core/text.js";
import { timeOf } from "../core/times.js";
import { downloadLink } from "./download-link.js";

/** The kinds of files, each with its types in the list of URLs. */
const kinds = { images: ["image"], pdfs: ["pdf"], media: ["audio", "video"], data: ["json", "text"] };

/**
 * @param {import("./archive-page.js").Context} context
 * @returns {import("./archive-page.js").Tab}
 */
export function createTab({ item, counts, exporter }) {
    let kind = null;
    const links = Object.fromEntries(Object.keys(kinds).map((name) =>
        [name, make("a", { href: tabURL(item, "files", { type: name }), text: message(`files.${name}`) })]));
    const range = make("p", { class: "quiet range" });
    const saving = make("div", { class: "save-files" });
    // The URLs of files that were selected, of all kinds.
    const chosen = new Set();
    const saveChosen = make("button", { type: "button", class: "primary", hidden: true,
        on: { click: () => exporter.prepare({ kind: "files", urls: [...chosen] }) } });
    const problems = make("div");
    const list = make("ul", { class: "files" });
    const reader = cursorReader({
        read: async (cursor, limit, signal) => {
            // Each file once, as it was last captured. Error pages of the site aren't files.
            const found = await api.urls(item, { type: kinds[kind].join(","), status: "2xx", collapse: "url", cursor, limit }, signal);
            return { rows: found.urls.filter(({ method }) => !method), next: found.next };
        },
        onRows(files, isFirst) {
            if (isFirst) list.replaceChildren();
            list.append(...files.map((file) => (kind === "images" ? imageCard : fileRow)(item, file, item.kind === "archive" && checkbox(file.url))));
        },
        onState({ count, isBusy, hasMore, error, wasStopped }) {
            problems.replaceChildren(...(error ? [errorBlock(error, message("files.failed"))] : []));
            list.setAttribute("aria-busy", String(isBusy));
            if (isBusy || error) {
                range.textContent = count === 0 && isBusy ? message("files.searching") : "";
                return;
            }
            const text = count === 0 && !wasStopped ? message(`files.none-${kind}`) : message(hasMore ? "files.first" : "count.files", { n: count });
            if (range.textContent !== text) announce(text);
            range.textContent = text;
            saving.hidden = count === 0;
        },
    });
    const element = make("section", { class: "file-list", "aria-labelledby": "files-title" },
        make("h2", { id: "files-title", class: "visually-hidden", text: message("tab.files") }),
        make("div", { class: "list-bar" }, make("nav", { class: "kinds", "aria-label": message("files.kinds") }, ...Object.values(links)),
            range, reader.stop, saving, saveChosen), problems, list, reader.element);
    list.addEventListener("click", () => history.replaceState({ ...history.state, rows: reader.count, top: scrollY }, ""));

    /** Opens the first kind of which there are files. */
    async function firstKind() {
        const found = await counts().catch(() => null);
        const has = new Set(found?.types.map(({ type }) => type));
        return Object.keys(kinds).find((name) => kinds[name].some((type) => has.has(type))) ?? "images";
    }

    function checkbox(url) {
        const box = make("input", { type: "checkbox", "aria-label": message("files.select", { name: nameOf(url) }), on: { change: () => {
            if (box.checked) chosen.add(url);
            else chosen.delete(url);
            saveChosen.hidden = chosen.size === 0;
            saveChosen.textContent = message("files.save-selected", { n: chosen.size });
        } } });
        box.checked = chosen.has(url);
        return box;
    }

    function showSaving() {
        saving.hidden = true;
        saving.replaceChildren(...(item.kind === "collection" ? [] : kinds[kind].map((type) => make("button", { type: "button",
            text: message(`files.save-${type}`), on: { click: () => exporter.prepare({ kind: "files", type }) } }))));
    }

    return {
        element,

        async show({ type }) {
            const wanted = Object.hasOwn(kinds, type ?? "") ? type : kind && !type ? kind : await firstKind();
            const { rows = 0, top = 0 } = history.state ?? {};
            for (const [name, link] of Object.entries(links)) {
                if (name === wanted) link.setAttribute("aria-current", "true");
                else link.removeAttribute("aria-current");
            }
            if (wanted !== kind) {
                kind = wanted;
                list.className = `files ${kind}`;
                list.replaceChildren();
                showSaving();
                await reader.start(rows);
            }
            if (top > 0) scrollTo(0, top);
        },

        close: reader.close,
    };
}

const nameOf = (url) => plain(decodeName(url), 200) || plain(hostOf(url), 200) || plainURL(url, 200);

function imageCard(item, file, box) {
    const name = nameOf(file.url);
    const time = timeOf(file.timestamp);
    const path = api.originalFile(item, file);
    const picture = make("span", { class: "picture" });
    const fail = () => picture.replaceChildren(make("span", { class: "quiet", text: message("files.no-preview") }));
    if (path) picture.append(make("img", { src: path, alt: "", loading: "lazy", decoding: "async", on: { error: fail } }));
    else fail();
    return make("li", {},
        make("a", { class: "open", href: pageURL(item, file.url, file.timestamp), title: plainURL(file.url, 400) }, picture,
            make("span", { class: "name", dir: "auto", text: name })),
        box, time && make("time", { class: "quiet", datetime: time, text: day(time) }),
        downloadLink(item, file, name));
}

function fileRow(item, file, box) {
    const name = nameOf(file.url);
    const time = timeOf(file.timestamp);
    return make("li", {}, box,
        make("a", { class: "open", href: pageURL(item, file.url, file.timestamp), dir: "auto", text: name }), " ",
        make("span", { class: "url quiet", dir: "ltr", text: plainURL(file.url, 400) }), " ",
        time && make("time", { class: "quiet", datetime: time, text: day(time) }),
        downloadLink(item, file, name));
}
