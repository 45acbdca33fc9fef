/**
 * Page info: the capture that is shown, and the captures that make up the page. The server notes with which captures a page was
 * answered, since nothing that comes from the page can be believed.
 */
import "../messages/en/page-info.js";
import { namesOf } from "../components/archive-names.js";
import { popover } from "../components/popover.js";
import { captureTrust } from "../components/trust-mark.js";
import { answerOf } from "../core/answer.js";
import * as api from "../core/api.js";
import { isFromElsewhere } from "../core/captures.js";
import { foreign, make, plain } from "../core/dom.js";
import { number, size } from "../core/format.js";
import { dateLocale, language, message, messageParts } from "../core/i18n.js";
import { pageURL } from "../core/routes.js";
import { exactURL, plainURL } from "../core/text.js";
import { exactMoment } from "../core/times.js";
import { timeLine } from "./time-line.js";

const dayMilliseconds = 86_400_000;
const listedMax = 100;
const units = [["year", 365.25 * dayMilliseconds], ["month", 30.44 * dayMilliseconds], ["day", dayMilliseconds], ["hour", 3_600_000],
    ["minute", 60_000], ["second", 1000]];

/**
 * Makes a button open page info.
 *
 * @param {HTMLButtonElement} button
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {import("../core/api.js").Capture} capture
 * @param {string} [asked] the requested URL, if the capture is that of a similar one
 */
export function pageInfo(button, archive, capture, asked) {
    popover(button, () => {
        const facts = make("div", {}, make("p", { class: "quiet", text: message("info.looking") }));
        const parts = make("section", { "aria-live": "polite" });
        fill(facts, () => captureFacts(archive, capture, asked));
        fill(parts, () => partBlocks(archive, capture));
        return [make("h2", { text: message("info.title") }), facts, parts];
    }, { class: "page-info", role: "group", "aria-label": message("info.title") });
}

async function fill(element, make) {
    try {
        element.replaceChildren(...(await make()).filter(Boolean));
    } catch (error) {
        element.replaceChildren(...failure(error));
    }
}

const failure = (error) => [make("p", { text: message("info.failed", { problem: plain(error.message, 300) }) })];

/** The archive that has a capture. */
const holderOf = (archive, { archive: member }) => archive.kind === "archive" ? archive : archive.members.find(({ id }) => id === member);

const url = (text, charactersMax) => make("span", { class: "url", dir: "ltr", text: exactURL(text, charactersMax) });

async function captureFacts(archive, capture, asked) {
    const holder = holderOf(archive, capture);
    const [[record] = [], names] = await Promise.all([
        holder ? api.records(holder.id, { ...capture, url: capture.request ?? capture.url }, "title") : [],
        namesOf(archive.members ?? [])]);
    const field = (name) => record?.record?.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value).join(", ");
    const { status, mime = "" } = answerOf(capture);
    const original = api.originalFile(archive, { ...capture, url: capture.request ?? capture.url }, "dl_");
    const rows = [
        ["title-of", record?.title && foreign(record.title, 300)],
        ["asked", asked && url(asked)],
        ["shown", url(capture.url)],
        ["captured", bothTimes(capture.capturedAt)],
        ["status", status && String(status)],
        ["type", foreign(mime, 100)],
        ["archive", archive.kind === "collection" && holder && foreign(names.get(holder.id))],
        ["digest", foreign(field("warc-payload-digest") || record?.digest || "", 200)],
        ["verification", holder && captureTrust(holder, capture).text],
        ["place", record?.file && message("info.place-in", { file: plain(record.file), offset: number(record.offset) })],
        ["size", record?.length && size(record.length)],
    ];
    return [
        make("dl", {}, ...rows.filter(([, value]) => value).flatMap(([name, value]) => [make("dt", { text: message(`info.${name}`) }), make("dd", {}, value)])),
        record?.problem && make("p", { text: message("info.problem", { problem: plain(record.problem, 300) }) }),
        fieldList("headers", record?.http), fieldList("record", record?.record),
        original && make("p", {}, make("a", { href: original, download: true, text: message("info.download-original") })),
    ];
}

/** Times of captures are in UTC, in archives and in all other programs. */
function bothTimes(time) {
    const date = new Date(time);
    const text = (zone) => new Intl.DateTimeFormat(dateLocale(), { dateStyle: "long", timeStyle: "long", hourCycle: "h23", ...zone }).format(date);
    if (Number.isNaN(date.getTime())) return plain(time);
    const [utc, local] = [text({ timeZone: "UTC" }), text({})];
    return make("span", {}, make("time", { datetime: time, text: utc }),
        utc !== local && make("span", { class: "quiet other-zone", text: message("info.captured-local", { time: local }) }));
}

const fieldList = (name, fields) => fields?.length > 0 && make("details", {}, make("summary", { text: message(`info.${name}`) }),
    make("dl", {}, ...fields.flatMap(([field, value]) => [make("dt", {}, foreign(field, 100)), make("dd", {}, foreign(value, 4000))])));

async function partBlocks(archive, page) {
    const found = await api.parts(archive, page);
    const names = await namesOf(await sourcesOf(archive, found.parts));
    const time = Date.parse(page.capturedAt);
    const parts = found.parts.map((part) => ({ ...part, distance: Date.parse(part.capturedAt) - time }));
    const away = parts.filter(({ distance }) => Math.abs(distance) > dayMilliseconds)
        .sort((one, other) => Math.abs(other.distance) - Math.abs(one.distance));
    const substitutes = parts.filter(({ match, content }) => match || content);
    const elsewhere = parts.filter((part) => isFromElsewhere(part, page));
    const row = (part) => partRow(archive, part, names);
    const [first, last] = [parts.at(0), parts.at(-1)].map((part) => part ? distanceText(part.distance) : "");
    return [
        make("h3", { text: message("info.parts") }),
        make("p", { text: message("info.spread", { n: parts.length, first, last }) }),
        parts.length > 1 && timeLine(message("info.time-line"), parts.map(({ capturedAt }) => Date.parse(capturedAt)), time),
        !found.isComplete && make("p", { class: "notice", text: message("info.incomplete") }),
        partList("other-times", away, row, true), partList("substitutes", substitutes, row), elsewhereList(elsewhere, page, names),
        partList("missing", found.missing, (missing) => make("li", {}, url(missing, 300))),
        make("p", {}, make("a", { href: api.partsPath(archive, page), download: "parts.json", text: message("info.download-list") })),
    ];
}

/** The archives that captures come from: those of the collection, or those that the archive requires. */
async function sourcesOf({ kind, members }, parts) {
    if (kind === "collection") return members;
    const ids = new Set(parts.map(({ content }) => content?.archive).filter(Boolean));
    return Promise.all(Array.from(ids, (id) => api.details({ kind: "archive", id })));
}

function partList(name, all, row, open = false) {
    if (all.length === 0) return null;
    const more = all.length - listedMax;
    return make("details", { open }, make("summary", { text: message(`info.${name}`, { n: all.length }) }),
        make("ul", {}, ...all.slice(0, listedMax).map(row), more > 0 && make("li", { class: "quiet", text: message("info.more", { n: more }) })));
}

/** How many captures come from each of the other archives. */
function elsewhereList(parts, page, names) {
    const counts = new Map();
    for (const part of parts) {
        for (const id of new Set([part.archive, part.content?.archive])) {
            if (id && id !== page.archive) counts.set(id, (counts.get(id) ?? 0) + 1);
        }
    }
    return parts.length > 0 && make("details", { open: true }, make("summary", { text: message("info.other-archives", { n: parts.length }) }),
        make("ul", {}, ...Array.from(counts, ([id, n]) =>
            make("li", {}, ...messageParts("info.archive-count", { n, archive: foreign(names.get(id) ?? id) })))));
}

function partRow(archive, part, names) {
    const { url: address, request, timestamp, mime, status, distance, match, asked, content } = part;
    const about = [distanceText(distance), plain(mime, 60), status !== undefined && status !== 200 && String(status), plain(names.get(part.archive), 80)];
    return make("li", {},
        make("a", { href: pageURL(archive, request ?? address, timestamp), dir: "ltr", text: plainURL(address, 300) }),
        make("span", { class: "quiet", title: exactMoment(part.capturedAt), text: about.filter(Boolean).join(" · ") }),
        match === "similar" && line("info.similar", { url: url(asked, 300) }), match === "other-form" && line("info.other-form", { url: url(asked, 300) }),
        content && contentLine(part, names));
}

const line = (key, values) => make("span", {}, ...messageParts(key, values));

function contentLine({ url: address, archive, content }, names) {
    const time = exactMoment(content.capturedAt);
    if (content.archive !== archive) return line("info.content-of-archive", { time, archive: foreign(names.get(content.archive) ?? content.archive) });
    return content.url === address ? line("info.content-of", { time }) : line("info.content-of-url", { time, url: url(content.url, 300) });
}

/** Returns how far a time is from that of the page, in the largest unit that fits. */
function distanceText(milliseconds) {
    const length = Math.abs(milliseconds);
    const [unit, unitLength] = units.find(([, each]) => length >= each) ?? [];
    if (!unit) return message("info.same-time");
    const format = new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" });
    return message(milliseconds < 0 ? "info.before" : "info.after", { distance: format.format(Math.round(length / unitLength)) });
}
