/** JSON schemas as text. */
import { make } from "../core/dom.js";

const depthMax = 4;
const nameOf = (reference) => reference.split("/").pop();

/**
 * @param {Object<string, any>} schema
 * @returns {string} a word or two
 */
export function typeOf(schema = {}) {
    if (schema.$ref) return nameOf(schema.$ref);
    const several = schema.oneOf ?? schema.anyOf;
    if (several) return several.map(typeOf).join(" | ");
    if (schema.type === "array") return `${typeOf(schema.items)}[]`;
    return [schema.type].flat().filter(Boolean).join(" | ") || (schema.enum || schema.const ? "string" : "any");
}

/**
 * @param {Object<string, any>} schema
 * @returns {[string, Object<string, any>, boolean][]} the fields of an object: name, schema, and whether it is always there
 */
export function fieldsOf({ properties = {}, required = [], allOf = [] }) {
    return [...allOf.flatMap(fieldsOf), ...Object.entries(properties).map(([name, schema]) => [name, schema, required.includes(name)])];
}

/**
 * @param {Object<string, any>} schema
 * @param {number} [depth]
 * @returns {(Node|string)[]} its shape, as in TypeScript, with links to named objects. A question mark: not always there
 */
export function shape(schema, depth = 0) {
    if (schema.$ref) return [make("a", { href: `#object-${nameOf(schema.$ref)}`, text: nameOf(schema.$ref) })];
    const several = schema.oneOf ?? schema.anyOf;
    if (several) return several.flatMap((one, index) => [index > 0 ? " | " : "", ...shape(one, depth)]);
    if (schema.enum) return [schema.enum.map((value) => JSON.stringify(value)).join(" | ")];
    if (schema.type === "array") return [...shape(schema.items ?? {}, depth), "[]"];
    const fields = fieldsOf(schema);
    if (fields.length === 0 || depth === depthMax) return [typeOf(schema)];
    const indent = "    ".repeat(depth);
    return ["{\n", ...fields.flatMap(([name, one, isRequired]) =>
        [`${indent}    ${name}${isRequired ? "" : "?"}: `, ...shape(one, depth + 1), "\n"]), `${indent}}`];
}
