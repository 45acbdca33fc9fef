/** The viewer's toolbar: where one is, where one was, which address at which time. */
import { icon, make, plain, plainURL } from "../core/dom.js";
import { pagesAddress } from "../core/routes.js";
import { createTimeChoice } from "./capture-times.js";

/**
 * @param {import("../core/api.js").Archive} archive
 * @param {{onVisit: (typed: string) => void, onReload: () => void, onPrint: () => void}
 *   & import("./capture-times.js").Listener} listener
 */
export function createToolbar(archive, { onVisit, onReload, onPrint, onTime, list }) {
    const title = plain(archive.title) || archive.id;
    const button = (shape, label, action) => make("button", { type: "button", class: "tool", "aria-label": label,
        title: label, on: { click: action } }, icon(shape));
    const picture = make("img", { class: "favicon", alt: "", width: 16, height: 16, hidden: true });
    const input = make("input", { type: "text", inputmode: "url", "aria-label": `Address in this ${archive.kind}`,
        autocapitalize: "none", autocomplete: "off", spellcheck: "false", enterkeyhint: "go", dir: "ltr" });
    const form = make("form", { class: "address-bar", role: "search" }, picture, input);
    const when = make("div", { class: "when" });
    const element = make("header", { class: "toolbar" },
        make("nav", { class: "place", "aria-label": "Where you are" },
            make("a", { class: "tool", href: "/", "aria-label": "Library", title: "Library" }, icon("library")),
            make("a", { class: "archive-name", href: pagesAddress(archive), text: title,
                title: `Pages of “${title}”` })),
        make("div", { class: "tools" },
            button("back", "Back", () => history.back()),
            button("forward", "Forward", () => history.forward()),
            button("reload", "Reload this page", onReload),
            button("print", "Print this page", onPrint)),
        form, when);

    // What is shown, and the URL that it stands for.
    let settled = "";
    let settledURL = "";
    let timed = "";
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        const typed = input.value.trim();
        if (!typed) return;
        input.blur();
        onVisit(typed === settled ? settledURL : typed);
    });
    input.addEventListener("focus", () => input.select());
    input.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") return;
        input.value = settled;
        input.blur();
    });

    return {
        element,

        /** @param {string} url shown as text; the caller has checked that the archive holds it */
        setAddress(url) {
            const text = plainURL(url);
            if (document.activeElement !== input || input.value === settled) input.value = text;
            settled = text;
            settledURL = url;
        },

        /**
         * @param {import("../core/api.js").Capture} [shown]
         * @param {import("../core/api.js").CaptureList} [near] captures of the same URL around it
         */
        setTime(shown, near) {
            const next = shown ? `${shown.timestamp} ${shown.url} ${near.total}` : "";
            if (next && next === timed) {
                // A page is confirmed more than once. The list, in which somebody may be choosing, stays.
                const select = when.querySelector("select");
                if (select) select.value = shown.timestamp;
                return;
            }
            timed = next;
            when.replaceChildren(...(shown ? [make("span", { class: "label", text: "Captured" }),
                ...createTimeChoice(shown, near, { onTime, list })] : []));
        },

        /** @param {string} address a `blob:` URL, or empty */
        setIcon(address) {
            picture.hidden = !address;
            if (address) picture.src = address;
            else picture.removeAttribute("src");
        },

        focus: () => input.focus(),

        /** @param {boolean} busy */
        setBusy(busy) {
            element.classList.toggle("busy", busy);
        },
    };
}
