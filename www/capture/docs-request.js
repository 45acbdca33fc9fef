/** The form that sends one of the described requests, and shows the response as text. */
import { announce, make } from "../app/core/dom.js";
import { message } from "../app/core/i18n.js";
import { block, part } from "../app/docs/api-docs.js";

// A response can be a film.
const charactersMax = 100_000;

/**
 * @param {import("../app/docs/api-docs.js").Operation} operation
 * @param {import("./docs-key.js").KeyField} keyField
 * @returns {HTMLElement}
 */
export function createRequestForm({ operationId, path, parameters = [], security }, keyField) {
    const fields = parameters.filter((one) => one.in !== "header").map((one) => createField(operationId, one));
    const result = make("div", { class: "result" });
    const form = make("form", { class: "request", "aria-labelledby": operationId }, ...fields.map(({ element }) => element),
        make("p", {}, make("button", { type: "submit", text: message("docs.send") })));
    let current = null;

    async function send(key) {
        current?.abort();
        const own = current = new AbortController();
        result.replaceChildren(make("p", { class: "quiet", text: message("docs.sending") }));
        const parts = await response(addressOf(path, fields), key, own.signal);
        // Otherwise a newer request was sent.
        if (current === own) result.replaceChildren(...parts);
    }

    form.addEventListener("submit", (event) => {
        event.preventDefault();
        const key = security.length > 0 ? keyField.read() : "";
        if (key !== null) send(key);
    });
    return part("docs.try", form, result);
}

function createField(operationId, { name, required, schema, in: place }) {
    const id = `${operationId}-${name}`;
    const values = schema.enum ?? (schema.type === "boolean" ? ["true", "false"] : null);
    const attributes = { id, required, dir: "ltr" };
    const control = values ? make("select", attributes, make("option", { value: "" }), ...values.map((value) => make("option", { value, text: value })))
        : make("input", {
            ...attributes, type: "text", placeholder: schema.default, autocapitalize: "none", autocomplete: "off", spellcheck: "false",
        });
    return { name, place, control, element: make("div", {}, make("label", { for: id }, make("code", { text: name })), control) };
}

function addressOf(path, fields) {
    const values = new Map(fields.map(({ name, control }) => [name, control.value.trim()]));
    const query = new URLSearchParams(fields.filter(({ name, place }) => place === "query" && values.get(name))
        .map(({ name }) => [name, values.get(name)])).toString();
    return path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values.get(name))) + (query && `?${query}`);
}

/** Sends a request. Returns what is shown of the response. */
async function response(address, key, signal) {
    try {
        const answer = await fetch(address, { headers: key ? { Authorization: `Bearer ${key}` } : {}, cache: "no-store", signal });
        const line = make("p", {}, make("strong", { text: `${answer.status} ${answer.statusText}`.trim() }), " ",
            make("code", { dir: "ltr", text: answer.headers.get("Content-Type") ?? "" }));
        const parts = await body(answer);
        announce(line.textContent.trim());
        return [line, ...parts];
    } catch {
        return signal.aborted ? [] : [make("p", { class: "notice error", role: "alert", text: message("docs.no-response") })];
    }
}

async function body(answer) {
    const note = (key) => make("p", { class: "quiet", text: message(key) });
    const { text, isWhole } = await beginning(answer);
    if (text === null) return [note("docs.body-binary")];
    if (text === "") return [note("docs.body-empty")];
    return isWhole ? [block(indented(text))] : [note("docs.body-cut"), block(text)];
}

/** Reads the beginning of a body: `text` is `null` if it isn't text. */
async function beginning(answer) {
    if (!answer.body) return { text: "", isWhole: true };
    const reader = answer.body.getReader();
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let text = "";
    try {
        for (;;) {
            const { done, value } = await reader.read();
            const more = decoded(decoder, value, !done);
            if (more === null || more.includes("\0")) return { text: null, isWhole: false };
            text += more;
            if (done) return { text, isWhole: true };
            if (text.length > charactersMax) return { text: text.slice(0, charactersMax), isWhole: false };
        }
    } finally {
        // What is left isn't sent any more.
        reader.cancel().catch(() => {});
    }
}

function decoded(decoder, bytes, stream) {
    try {
        return decoder.decode(bytes, { stream });
    } catch {
        return null;
    }
}

function indented(text) {
    try {
        return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
        return text;
    }
}
