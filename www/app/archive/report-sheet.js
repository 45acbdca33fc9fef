/** The sections of an evidence report. */
import { isUnavailable, unavailabilityMark } from "../components/availability.js";
import { captureTrust, trustMark, trustOf } from "../components/trust-mark.js";
import { captureSentences, trustSentences } from "../components/trust-sentences.js";
import { withCode } from "../components/messages.js";
import { unavailabilityText } from "../components/unavailability-text.js";
import { foreign, make, plain } from "../core/dom.js";
import { day, number, size } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { tabURL } from "../core/routes.js";
import { exactURL } from "../core/text.js";
import { exactMoment, span, timeOf } from "../core/times.js";
import { readDigest } from "./digest.js";
import { reportCommands } from "./report-commands.js";
import { isAsVerified, recordFault } from "./report-data.js";
import { affectedParts, shortResult, signatureFaults } from "./report-short.js";
import { comparisonFacts, hasLaterCaptures } from "./verdict.js";

/**
 * @param {import("./report-data.js").ReportData} data
 * @param {{ts?: string}} filter
 * @returns {HTMLElement[]}
 */
export function reportSections(data, { ts }) {
    const { item, archive, capture, version } = data;
    const fault = recordFault(data.record);
    const made = make("p", { class: "quiet", text: message("report.made", { time: exactMoment(new Date().toISOString()), version }) });
    if (!archive) return [made, ...collectionSections(item)];
    const short = section("short", make("p", { class: "report-verdict" }, trustMark(archive, { page: capture })),
        make("p", { class: "short" }, make("strong", {}, ...shortResult(archive, capture, data.record))),
        fault && make("p", { class: "short" }, make("strong", { text: message(`report.short.record-${fault}`) })),
        capture && item.kind === "collection" && make("p", {}, ...messageParts("report.member", { collection: foreign(item.title) || item.id })));
    if (!isAsVerified(archive)) return [made, short, whyNothingIsStated(archive)];
    made.append(` ${message("report.check-file")}`);
    const affected = affectedParts(archive);
    return [
        made,
        short,
        section("meaning", ...meaningParts(data)),
        capture && section("page", picture(data), ...stated(pageFacts(data, ts), statedBy(archive, capture))),
        affected.length > 0 && section("affected", ...affected),
        section("file", !capture && picture(data), facts(fileFacts(data)), ...stated(statedFileFacts(archive), statedBy(archive))),
        capture && section("record", ...recordParts(data)),
        section("signature", capture?.uncovered && make("p", { text: message("trust.capture-uncovered") }), ...signatureParts(archive)),
        section("compared", capture?.uncovered && make("p", { text: message("report.not-compared") }), ...comparedParts(archive)),
        section("repeat", ...repeatParts(data)),
    ].filter(Boolean);
}

function whyNothingIsStated(archive) {
    const unavailable = unavailabilityText(archive);
    return unavailable ? make("p", { class: "notice warning" }, ...withCode(unavailable)) : make("p", {}, message("report.not-verified"), " ",
        make("a", { class: "screen-only", href: tabURL(archive, "details"), text: message("report.verify") }));
}

function section(name, ...parts) {
    const id = `report-${name}`;
    return make("section", { "aria-labelledby": id }, make("h2", { id, text: message(`report.${name}`) }), ...parts.filter(Boolean));
}

/** A name or a value of the file. */
const code = (text, charactersMax = 200) => text && make("code", { dir: "auto", text: plain(text, charactersMax) });
/** Nothing but a digest stands where the reader expects one. */
function digest(text) {
    const read = readDigest(text);
    return read ? code(`${read.algorithm}:${read.value}`) : text && message("report.unreadable");
}

const urlText = (url) => make("span", { class: "url", dir: "ltr", text: exactURL(url) });

/** Returns a list of facts. Those without a value are left out. */
function facts(rows) {
    return make("dl", { class: "report-facts" }, ...rows.filter(([, value]) => value).map(([name, ...values]) => make("div", {},
        make("dt", { text: message(`report.fact.${name}`) }), make("dd", {}, ...values.filter(Boolean)))));
}

/** The picture is that of the archive's main page. */
function picture({ archive, capture, isPictured }) {
    if (!archive.picturedPage || capture && !isPictured) return null;
    return make("figure", {}, make("img", { src: archive.thumbnail, alt: "" }), make("figcaption", { class: "quiet", text: message("report.picture") }));
}

function pageFacts({ capture, title, record }, asked) {
    const isOther = asked && !capture.timestamp.startsWith(asked) && !asked.startsWith(capture.timestamp);
    return [
        ["url", urlText(capture.url)],
        ["title", foreign(title, 300)],
        ["captured", exactMoment(capture.capturedAt), ` ${message("report.clock")}`,
            isOther && ` ${message("report.closest", { time: exactMoment(timeOf(asked)) || asked })}`],
        ["server-clock", record?.serverDate && serverClock(record.serverDate)],
        ["answer", [capture.request && message("report.form"), record?.status, mediaType(record?.mime)].filter(Boolean).join(", ")],
    ];
}

/** RFC 9110 §8.3.1, without parameters. */
const mediaType = (text) => /^([\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127})\s*(;|$)/.exec(text ?? "")?.[1] ?? (text && message("report.unreadable"));

/** RFC 9110 §5.6.7. */
function serverClock(text) {
    const time = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text) ? Date.parse(text) : NaN;
    return Number.isNaN(time) ? message("report.unreadable") : message("report.server-clock", { time: exactMoment(new Date(time).toISOString()) });
}

function fileFacts({ item, archive }) {
    return [
        ["archive", foreign(archive.title) || archive.id],
        ["collection", item.kind === "collection" && (foreign(item.title) || item.id)],
        ["file-name", code(archive.originalName, 255) || `${archive.id}.wacz`],
        ["sha256", archive.sha256 ? code(archive.sha256) : message("report.no-sha256")],
        ["size", message("report.bytes", { size: size(archive.size), n: archive.size })],
        ["added", archive.importedAt && exactMoment(archive.importedAt)],
    ];
}

const statedFileFacts = ({ firstCapture, lastCapture, createdAt, software }) => [
    ["captures", span(firstCapture, lastCapture)],
    ["created", createdAt && statedTime(createdAt)],
    ["software", foreign(software, 120)],
];

/** A valid signature covers the list of files, and so what is in them, true or not. */
function statedBy({ verification, verificationReport: { signature } }, capture) {
    if (!signature || capture?.uncovered) return "stated-unsigned";
    return signature.outcome === "valid" && !["damaged", "suspicious"].includes(verification) ? "stated" : "stated-unproven";
}

/** What only the file says, below a heading that says so. */
function stated(rows, heading) {
    return rows.some(([, value]) => value) ? [make("h3", { text: message(`report.${heading}`) }), facts(rows)] : [];
}

const statedTime = (text) => (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
    ? exactMoment(text) : message("report.unreadable"));

function recordFacts({ id, type, blockDigest, payloadDigest, file, offset, length }) {
    return [
        ["record-id", id && code(exactURL(id, 200))],
        ["record-type", code(type, 40)],
        ["block-digest", digest(blockDigest)],
        ["payload-digest", digest(payloadDigest)],
        ["place", file && code(file, 400), " ", message("report.place", { offset: String(offset), length: String(length ?? ""), known: length === undefined ? "no" : "yes" })],
    ];
}

const readAgain = ({ digests }) => digests && make("p", { text: message("report.read-again", { result: digests }) });

function recordParts({ archive, capture, record, problem }) {
    if (!record) return [make("p", { text: message("report.no-record") })];
    const { type, count, repeats } = record;
    return [
        readAgain(record),
        ...stated(recordFacts(record), statedBy(archive, capture)),
        repeats ? make("div", {}, make("p", { text: message("report.repeats") }), readAgain(repeats), facts([
            ["archive-id", repeats.archive !== archive.id && code(repeats.archive)],
            ["url", repeats.url !== capture.url && urlText(repeats.url)],
            ["captured", exactMoment(timeOf(repeats.timestamp))],
            ...recordFacts(repeats),
        ])) : (type === "revisit" || capture.status === 304 && record.status === undefined) && make("p", { text: message("report.repeats-nothing") }),
        count > 1 && make("p", { text: message("report.several-records", { n: count }) }),
        problem && make("p", { text: message("report.no-header") }),
    ];
}

/** What a valid signature is valid for, by the result of the whole file. */
const validFor = { signed: "valid", "signed-anonymously": "valid", uncovered: "uncovered", suspicious: "suspicious" };

function signatureParts(archive) {
    const { signature } = archive.verificationReport;
    if (!signature) return [make("p", { text: message("report.not-signed") })];
    const { signer, timeStamp, created, software, outcome } = signature;
    const faults = signatureFaults(signature);
    return [
        facts([
            ["signer", ...signerParts(signature)],
            ["result", message("report.outcome", { outcome: outcome === "valid" ? validFor[archive.verification] ?? "list" : outcome })],
            ["reason", faults.length > 0 && make("ul", {}, ...faults.map((fault) => make("li", {}, foreign(fault, 300))))],
            ["key", code(signer?.keySHA256)],
            ["stamp", ...stampParts(signature)],
        ]),
        // The signature is of the list of files only.
        ...stated([
            ["domain", !signer?.certified && foreign(signer?.domain)],
            ["claimed-time", created && statedTime(created), hasLaterCaptures(created, archive) && ` ${message("report.later-captures")}`],
            ["signing-software", foreign(software, 120)],
        ], "stated-beside"),
        chainTable(message(outcome === "valid" ? "report.chain" : "report.chain-unproven"), signer?.chain),
        chainTable(message("report.stamp-chain", { outcome: timeStamp?.outcome ?? "" }), timeStamp?.chain),
    ];
}

function stampParts({ timeStamp, outcome }) {
    if (!timeStamp) return [message("report.no-stamp")];
    const time = timeStamp.time ? exactMoment(timeStamp.time) : "–";
    const proves = outcome === "valid" || outcome === "untrusted";
    return messageParts(proves ? "report.stamp" : "report.stamp-unproven", { time, authority: foreign(timeStamp.authority) || "–", outcome: timeStamp.outcome });
}

/** Who the certificate names. Anyone can make one, and write a domain beside it. */
function signerParts({ signer, outcome }) {
    const name = foreign(signer?.certified);
    if (name) return outcome === "valid" ? [name] : messageParts("report.signer-unproven", { name });
    return [message(signer?.chain?.length > 0 ? "report.signer-uncertified" : "report.anonymous")];
}

function chainTable(title, chain = []) {
    if (chain.length === 0) return null;
    return make("table", { class: "certificates" }, make("caption", { text: title }),
        make("thead", {}, make("tr", {}, ...["subject", "issuer", "valid", "sha256"].map((name) =>
            make("th", { scope: "col", text: message(`report.certificate.${name}`) })))),
        make("tbody", {}, ...chain.map(({ subject, issuer, notBefore, notAfter, sha256 }) => make("tr", {},
            make("td", { dir: "auto" }, ...certificateName(subject)), make("td", { dir: "auto" }, ...certificateName(issuer)),
            make("td", { text: `${day(notBefore)} – ${day(notAfter)}` }), make("td", {}, code(sha256))))));
}

/** Breaks lines between the parts of a name. */
const certificateName = (name) => plain(name, 300).split(/(?<=,)/).flatMap((part) => [part, make("wbr")]);

function comparedParts({ verificationReport: report }) {
    return [
        make("p", { text: message("report.compared-at", { time: exactMoment(report.summary.verifiedAt) }) }),
        // How payload digests were computed is for those who know WARC files: Details says it.
        make("dl", { class: "report-facts" }, ...comparisonFacts({ ...report.result, payloadDigests: {} }).map(([name, value]) =>
            make("div", {}, make("dt", { text: name }), make("dd", { text: value })))),
    ];
}

function meaningParts({ archive, capture }) {
    const trust = capture ? captureTrust(archive, capture) : trustOf(archive);
    const [proves, limits] = trustSentences(trust);
    const { timeStamp, outcome } = archive.verificationReport.signature ?? {};
    const isStamped = outcome === "valid" && timeStamp?.outcome === "valid" && !capture?.uncovered;
    const list = (key, texts) => [make("h3", { text: message(key) }), make("ul", {}, ...texts.filter(Boolean).map((parts) => make("li", {}, ...[parts].flat())))];
    return [
        ...list("report.shows", [proves, isStamped && message("report.existed", { time: exactMoment(timeStamp.time) })]),
        ...list("report.shows-not", [...captureSentences(capture), limits,
            capture && message("report.clock-limit"), message("trust.servers")]),
    ];
}

function repeatParts(data) {
    const commands = reportCommands(data);
    const bash = commands.some(({ lines }) => lines.some((line) => /(^|\s)\$'/.test(line))) ? "yes" : "no";
    return [
        make("p", { text: message("report.repeat-how", { bash }) }),
        make("p", { class: "quiet", text: message("report.script") }),
        ...commands.flatMap(({ title, lines, expected, isOfLastLine }) => [
            make("h3", { text: title }), make("pre", { tabindex: "0", dir: "ltr", "data-expected": expected }, make("code", { text: lines.join("\n") })),
            expected && make("p", { class: "quiet" }, `${message(isOfLastLine ? "report.expected-last" : "report.expected")} `, code(expected))]),
    ];
}

function collectionSections(collection) {
    return [section("collection", facts([
        ["collection", foreign(collection.title) || collection.id],
        ["captures", span(collection.firstCapture, collection.lastCapture)],
    ]), make("table", {}, make("caption", { text: message("report.members", { n: collection.members.length }) }),
        make("thead", {}, make("tr", {}, ...["archive", "file-name", "size", "sha256", "result"].map((name) =>
            make("th", { scope: "col", text: message(`report.fact.${name}`) })))),
        make("tbody", {}, ...collection.members.map(memberRow)))),
    ];
}

function memberRow(archive) {
    const [bytes, sha256, result] = isUnavailable(archive) || archive.verification === "changed" ? ["–", "–", unavailabilityMark(archive) || trustMark(archive)]
        : [number(archive.size), code(archive.sha256 ?? "–"), trustMark(archive)];
    return make("tr", {},
        make("td", {}, make("a", { href: tabURL(archive, "report") }, foreign(archive.title) || archive.id)),
        make("td", {}, foreign(archive.originalName, 255) || `${archive.id}.wacz`),
        make("td", { text: bytes }), make("td", {}, sha256), make("td", {}, result));
}
