/** The page that shows an OpenAPI description: `/api/docs` of the library, `/docs` of the capture server. */
import "../messages/en/shell.js";
import "../messages/en/docs.js";
import { errorBlock } from "../components/messages.js";
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { curlExample } from "./curl-example.js";
import { fieldsOf, shape, typeOf } from "./shapes.js";

/**
 * @typedef {Object<string, any>} Operation with its `path` and `method`
 * @typedef {{title: string, id: string, has: (operation: Operation) => boolean}} Section
 *
 * @typedef {object} Description
 * @property {string} address the URL of the description
 * @property {(address: string) => Promise<Object<string, any>>} read
 * @property {(description: Object<string, any>) => Section[]} sections in their order
 * @property {(Node|string)[]} intro
 * @property {() => Node} access a section that says what requests need
 * @property {(Node|string)[]} errors about the shape of errors
 * @property {(operation: Operation, origin: string) => string} [headers] options of curl
 * @property {(operation: Operation) => Node|null} [form] what sends a request
 */

const methods = ["get", "post", "patch", "put", "delete"];
const root = document.getElementById("app");

const code = (text) => make("code", { dir: "ltr", text });
export const heading = (level, id, ...children) => make(`h${level}`, { id }, ...children);

/** @param {Description} options */
export async function showDescription(options) {
    try {
        show(contents(await options.read(options.address), options));
    } catch (error) {
        show([errorBlock(error, message("docs.cant-read"), () => showDescription(options))]);
    }
}

function show(parts) {
    root.replaceChildren(
        make("header", { class: "page-header" }, make("div", { class: "column app-bar" },
            make("nav", { class: "trail", "aria-label": message("shell.breadcrumbs") }, make("a", { class: "wordmark", href: "/" }, "replayhost")))),
        make("main", { class: "column api-docs" }, make("h1", { tabindex: "-1", text: message("docs.title") }), ...parts));
    // The elements of the fragment exist now.
    if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

function contents(description, options) {
    const { paths, components: { schemas }, security } = description;
    const operations = Object.entries(paths).flatMap(([path, item]) =>
        methods.filter((method) => item[method]).map((method) => ({ path, method, security, ...item[method] })));
    const groups = options.sections(description).map((section) => ({ ...section, operations: operations.filter(section.has) }))
        .filter((group) => group.operations.length > 0);
    return [
        make("p", {}, ...options.intro),
        make("nav", { class: "contents", "aria-label": message("docs.contents") }, make("ul", {},
            ...groups.map(({ id, title }) => entry(id, title)), entry("objects", message("docs.objects")),
            entry("errors", message("docs.errors")))),
        options.access(),
        ...groups.map(({ id, title, operations: some }) => make("section", { "aria-labelledby": id }, heading(2, id, title),
            ...some.map((operation) => operationPart(operation, options)))),
        make("section", { "aria-labelledby": "objects" }, heading(2, "objects", message("docs.objects")),
            ...Object.entries(schemas).filter(([name]) => name !== "Error").map(([name, schema]) => objectPart(name, schema))),
        errorPart(schemas.Error, operations, options),
    ];
}

const entry = (id, text) => make("li", {}, make("a", { href: `#${id}`, text }));

function operationPart(operation, { headers, form }) {
    const { path, method, operationId, summary, description, parameters = [], requestBody, responses } = operation;
    return make("article", { class: "operation", "aria-labelledby": operationId },
        heading(3, operationId, make("span", { class: `method ${method}`, text: method.toUpperCase() }), " ", code(path)),
        summary && make("p", { text: summary }),
        description && make("p", { class: "quiet", text: description }),
        parameters.length > 0 && part("docs.parameters", facts(parameters.map((one) => [code(one.name),
            message("docs.parameter", { place: one.in, type: typeOf(one.schema), required: yes(one.required) }), meaning(one)]))),
        requestBody && part("docs.body", ...bodies(requestBody.content)),
        part("docs.responses", facts(Object.entries(responses).map(([status, { description: text, content }]) =>
            [code(status), "", make("p", { text }), ...status < 300 ? bodies(content) : []]))),
        part("docs.example", block(curlExample(location.origin, { path, method, parameters, requestBody },
            headers?.(operation, location.origin)))),
        form?.(operation));
}

const yes = (isSo) => (isSo ? "yes" : "no");
export const part = (key, ...children) => make("div", { class: "part" }, make("h4", { text: message(key) }), ...children);
// A block that scrolls has to be reachable with the keyboard.
export const block = (...lines) => make("pre", { tabindex: "0", dir: "ltr" }, make("code", {}, ...lines));

const possible = ({ enum: values }) => make("p", { class: "quiet", text: message("docs.values", { values: values.filter(Boolean).join(", ") }) });

/** What a parameter means, its possible values, and what it is by default. */
function meaning({ schema = {}, description }) {
    return make("div", {},
        description && make("p", { text: description }),
        schema.enum && possible(schema),
        schema.default !== undefined && make("p", { class: "quiet", text: message("docs.default", { value: String(schema.default) }) }));
}

function bodies(content = {}) {
    return Object.entries(content).flatMap(([type, { schema }]) => [make("p", { class: "quiet" }, code(type)),
        schema && block(...shape(schema))].filter(Boolean));
}

function facts(rows) {
    return make("dl", { class: "fields" }, ...rows.map(([name, note, ...parts]) => make("div", {},
        make("dt", {}, name, note && make("span", { class: "quiet", text: note })), make("dd", {}, ...parts))));
}

function objectPart(name, schema) {
    const fields = fieldsOf(schema);
    return make("article", { class: "operation", "aria-labelledby": `object-${name}` }, heading(3, `object-${name}`, code(name)),
        schema.description && make("p", { class: "quiet", text: schema.description }),
        fields.length === 0 ? block(...shape(schema)) : facts(fields.map(([field, one, isRequired]) => [code(field),
            message("docs.field", { type: typeOf(one), required: yes(isRequired) }),
            make("p", {}, one.description ?? "", typeOf(one) === "object" || one.$ref || one.items || one.oneOf ? block(...shape(one)) : ""),
            one.enum && possible(one)].filter(Boolean))));
}

/** The shape of errors, and each status with what it means. */
function errorPart(schema, operations, { errors }) {
    const meanings = new Map();
    for (const { responses } of operations) {
        for (const [status, { description }] of Object.entries(responses)) {
            if (status >= 400) meanings.set(status, (meanings.get(status) ?? new Set()).add(description));
        }
    }
    return make("section", { "aria-labelledby": "errors" }, heading(2, "errors", message("docs.errors")),
        make("p", {}, ...errors), block(...shape(schema)), heading(3, "statuses", message("docs.statuses")),
        facts([...meanings].sort().map(([status, texts]) => [code(status), "", ...[...texts].map((text) => make("p", { text }))])));
}
