/** The filters of the list of URLs. */
import { make, plain } from "../core/dom.js";
import { number } from "../core/format.js";
import { message } from "../core/i18n.js";
import { typeName, typeNames } from "./type-names.js";

const typingMilliseconds = 250;
const matches = ["contains", "prefix", "exact", "pattern"];
const statuses = ["2xx", "3xx", "4xx", "5xx"];
const sorts = ["newest", "oldest", "largest"];
const methods = ["GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE"];
const digits = (text) => text.trim().replaceAll("-", "");

/** Whether a text is the beginning of a time, 4 to 14 digits. */
const isTime = (text) => /^\d{4}(\d\d){0,5}$/.test(digits(text));

/**
 * @param {(delay: number) => void} onChange `delay` in milliseconds: more is being typed
 */
export function urlFilters(onChange) {
    const text = make("input", { type: "search", "aria-label": message("urls.text"), placeholder: message("urls.text"), dir: "ltr",
        autocomplete: "off", autocapitalize: "none", spellcheck: "false", on: { input: () => onChange(typingMilliseconds) } });
    const menu = (label, options, first) => make("select", { "aria-label": label, on: { change: () => onChange(0) } },
        first && make("option", { value: "", text: first }),
        ...options.map(([value, name]) => make("option", { value, text: name })));
    // A time that isn't complete yet is no mistake before the field is left.
    const time = (label) => make("input", { type: "text", "aria-label": label, placeholder: label, inputmode: "numeric",
        autocomplete: "off", class: "time", title: message("urls.time-example"), on: {
            input: ({ target }) => !target.value.trim() || isTime(target.value) ? onChange(typingMilliseconds) : null,
            change: ({ target }) => (isTime(target.value) ? null : onChange(0)),
        } });
    const fields = {
        match: menu(message("urls.match"), matches.map((name) => [name, message(`urls.match.${name}`)])),
        q: text,
        type: menu(message("urls.type"), typeNames.map((name) => [name, typeName(name)]), message("type.all")),
        status: menu(message("urls.status"), statuses.map((name) => [name, message(`urls.status.${name}`)]), message("urls.status.all")),
        method: menu(message("urls.method"), methods.map((name) => [name, name]), message("urls.method.all")),
        after: time(message("urls.after")),
        before: time(message("urls.before")),
        sort: menu(message("list.sort"), sorts.map((name) => [name, message(`urls.sort-${name}`)]), message("urls.sort-url")),
    };
    const isFilter = ([name, value]) => value && name !== "match" && name !== "sort";
    // On a narrow screen, the list begins below two filters.
    const more = make("button", { type: "button", class: "more-filters", "aria-expanded": "false", text: message("urls.more-filters"),
        on: { click: () => showWhole(!element.classList.contains("whole")) } });
    const element = make("form", { class: "url-filters", role: "search", "aria-label": message("urls.filter"), on: {
        submit: (event) => {
            event.preventDefault();
            onChange(0);
        },
    } }, fields.q, fields.match, more, fields.type, fields.status, fields.method, fields.after, fields.before);

    function showWhole(isWhole) {
        element.classList.toggle("whole", isWhole);
        more.setAttribute("aria-expanded", String(isWhole));
    }

    const values = () => Object.entries(fields).map(([name, { value }]) => {
        if (name === "match") return [name, value === "contains" ? "" : value];
        return [name, name === "after" || name === "before" ? digits(value) : value.trim()];
    });
    return {
        element,
        /** Beside the list, since it isn't a filter. */
        sort: fields.sort,
        read: () => Object.fromEntries(values().filter(([, value]) => value)),
        isActive: () => values().some(isFilter),

        /** @returns {string} why the filter can't be used; empty if it can */
        problem() {
            const wrong = [fields.after, fields.before].find(({ value }) => value.trim() && !isTime(value));
            return wrong ? message("urls.no-date", { text: plain(wrong.value, 40) }) : "";
        },

        /** @returns {string} what to say if there are no captures */
        emptyText() {
            if (!values().some(isFilter)) return message("urls.none");
            const needsHost = fields.q.value && ["prefix", "exact"].includes(fields.match.value);
            return needsHost ? message("urls.none-without-host", { match: message(`urls.match.${fields.match.value}`) })
                : message("urls.none-match");
        },

        show(filter) {
            for (const [name, field] of Object.entries(fields)) {
                const value = filter[name] ?? (name === "match" ? "contains" : "");
                // The same time stays as it was typed, with its hyphens.
                if (["after", "before"].includes(name) && digits(field.value) === value) continue;
                if (field.tagName === "SELECT" && ![...field.options].some((option) => option.value === value)) {
                    field.append(make("option", { value, text: plain(value, 40) }));
                }
                field.value = value;
            }
            if (["type", "status", "method", "after", "before"].some((name) => filter[name])) showWhole(true);
        },

        showCounts(found) {
            const counts = new Map(found.map(({ type, captures }) => [type, captures]));
            for (const option of fields.type.options) {
                if (!option.value) continue;
                option.textContent = message("urls.type-count", { type: typeName(option.value),
                    n: number(counts.get(option.value) ?? 0) });
            }
        },
    };
}
