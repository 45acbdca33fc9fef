/** A request of the API as a line for a terminal. */

/** Quotes an argument for a POSIX shell. */
const quoted = (text) => (/^[\w./:=?&-]+$/.test(text) && !/[?&]/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const placeholder = (name) => name.toUpperCase();

/**
 * @param {string} origin
 * @param {{path: string, method: string, parameters: Object<string, any>[], requestBody?: Object<string, any>}} operation
 * @param {string} [headers] options for header fields, quoted
 * @returns {string}
 */
export function curlExample(origin, { path, method, parameters, requestBody }, headers = "") {
    const query = parameters.filter((one) => one.in === "query" && one.required).map(({ name }) => `${name}=${placeholder(name)}`).join("&");
    const address = `${origin}${path.replace(/\{(\w+)\}/g, (_, name) => placeholder(name))}${query && `?${query}`}`;
    return ["curl", method !== "get" && `--request ${method.toUpperCase()}`,
        headers, bodyOption(requestBody?.content), quoted(address)].filter(Boolean).join(" ");
}

function bodyOption(content) {
    if (!content) return "";
    const [[type, { schema = {} }]] = Object.entries(content);
    if (!type.endsWith("json")) return `--header 'Content-Type: ${type}' --data-binary @FILE`;
    const { properties = {}, required = Object.keys(properties).slice(0, 1), examples } = schema;
    const body = examples?.[0] ?? Object.fromEntries(required.map((name) => [name, example(properties[name] ?? {}, name)]));
    return `--json ${quoted(JSON.stringify(body))}`;
}

function example({ type, enum: values, items }, name) {
    if (values) return values[0];
    if (type === "boolean") return true;
    if (type === "integer" || type === "number") return 1;
    return type === "array" ? [example(items ?? {}, name)] : placeholder(name);
}
