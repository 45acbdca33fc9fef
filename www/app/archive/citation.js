/** Citations of a captured page or an archive. */
import { plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { exactURL } from "../core/text.js";
import { exactMoment, timeOf } from "../core/times.js";

const americanDay = new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeZone: "UTC" });
const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const escapes = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };

/**
 * @param {import("./report-data.js").ReportData} data
 * @returns {{plain: string, chicago: string, bibtex: string}}
 */
export function citations({ item, archive, capture, title }) {
    const holder = archive ?? item;
    const time = capture ? timeOf(capture.timestamp) : holder.firstCapture;
    const values = { title: unquoted(plain(title, 300)), url: capture ? exactURL(capture.url) : "", time: time ? exactMoment(time) : "", archive: unquoted(plain(holder.title)) || holder.id,
        file: unquoted(plain(holder.originalName)) || holder.id, sha256: holder.sha256 ?? "", day: time ? americanDay.format(new Date(time)) : "" };
    const kind = capture ? (values.title ? "page" : "url") : "archive";
    return { plain: message(`citation.plain.${kind}`, values), chicago: message(`citation.chicago.${kind}`, {
        ...values, title: withoutStop(values.title), archive: withoutStop(values.archive) }), bibtex: bibtex(values, time, capture) };
}

/** Without what ends a quotation: the rest of a title would read as the citation's own words. */
const unquoted = (text) => text.replace(/["\u201c-\u201f\u2033\u2036\u275d\u275e\u301d-\u301f\uff02]/gu, "'");

/** A citation adds a full stop or a comma of its own. */
const withoutStop = (text) => text.replace(/\.$/, "");

/** An archive can list URLs that no browser can parse. */
const hostOf = (url) => (URL.canParse(url) ? new URL(url).hostname : "");

function bibtex({ title, url, archive, file, sha256, day }, time, capture) {
    const date = time ? new Date(time) : null;
    const name = (capture ? hostOf(capture.url) || "capture" : archive).toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
    const fields = [["title", `{${escaped(title || url || archive)}}`],
        // Braces in a URL would end the command.
        capture && ["howpublished", `\\url{${url.replace(/[{}\\]/g, encodeURIComponent)}}`],
        date && ["year", String(date.getUTCFullYear())], date && ["month", months[date.getUTCMonth()], true],
        ["note", escaped(message(capture ? "citation.note.page" : "citation.note.archive", { day, archive, file, sha256 }))]].filter(Boolean);
    const lines = fields.map(([key, value, isBare]) => `  ${key} = ${isBare ? value : `{${value}}`}`);
    return `@misc{${name}${date ? `-${date.toISOString().slice(0, 10).replaceAll("-", "")}` : ""},\n${lines.join(",\n")}\n}`;
}

const escaped = (text) => text.replace(/[\\{}$&#_%~^]/g, (character) => escapes[character] ?? `\\${character}`);
