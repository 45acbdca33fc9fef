/** The viewer's toolbar: where one is, where one was, which address at which time. */
import { icon, make, plain, plainURL } from "./dom.js";
import { exactMoment, moment } from "./format.js";
import { pagesAddress } from "./routes.js";

/**
 * @param {import("./api.js").Archive} archive
 * @param {{onVisit: (typed: string) => void, onReload: () => void, onTime: (timestamp: string) => void}} listener
 */
export function createToolbar(archive, { onVisit, onReload, onTime }) {
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
            button("reload", "Reload this page", onReload)),
        form, when);

    // What is shown, and the URL that it stands for.
    let settled = "";
    let settledURL = "";
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
         * @param {import("./api.js").Capture|undefined} shown
         * @param {import("./api.js").Capture[]} all captures of the same address
         */
        setTime(shown, all) {
            when.replaceChildren(...(shown ? [make("span", { class: "label", text: "Captured" }),
                all.length > 1 ? timeChoice(shown, all, onTime) : timeText(shown)] : []));
        },

        /** @param {string} address a `blob:` URL, or empty */
        setIcon(address) {
            picture.hidden = !address;
            if (address) picture.src = address;
            else picture.removeAttribute("src");
        },

        /** @param {boolean} busy */
        setBusy(busy) {
            element.classList.toggle("busy", busy);
        },
    };
}

function timeText(capture) {
    return make("time", { datetime: capture.capturedAt, title: capture.capturedAt, text: moment(capture.capturedAt) });
}

function timeChoice(shown, all, onTime) {
    const seen = new Set();
    const distinct = all.filter(({ timestamp }) => !seen.has(timestamp) && seen.add(timestamp));
    if (distinct.length === 1) return timeText(shown);
    const minutes = new Set(distinct.map(({ capturedAt }) => moment(capturedAt)));
    const text = minutes.size === distinct.length ? moment : exactMoment;
    const label = ({ capturedAt, status }) =>
        text(capturedAt) + (status !== undefined && status !== 200 ? ` (status ${status})` : "");
    return make("select", { "aria-label": `Time of capture, ${distinct.length} to choose from`, title: shown.capturedAt,
        on: { change: (event) => onTime(event.target.value) } },
    ...distinct.map((capture) => make("option", { value: capture.timestamp, text: label(capture),
        selected: capture.timestamp === shown.timestamp })));
}
