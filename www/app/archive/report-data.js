/** Reads what an evidence report states: the archive, and for a page its capture and its record. */
import { isUnavailable } from "../components/availability.js";
import * as api from "../core/api.js";

/**
 * @typedef {{archive: string, url: string, timestamp: string, digests?: import("../core/api.js").Comparison, file?: string,
 *   isCompressed?: boolean, id?: string, type?: string, blockDigest?: string, payloadDigest?: string, offset: number, length: number,
 *   mime?: string, status?: number, serverDate?: string, count?: number, repeats?: RecordFacts}} RecordFacts `file`: its WARC file in the ZIP; `serverDate`: the time that the web server stated; `count`:
 *   records of the URL at this time, of which this is the first; `repeats`: the record whose content is shown
 * @typedef {{item: import("../core/api.js").Archive|import("../core/api.js").Collection, archive?: import("../core/api.js").Archive,
 *   capture?: import("../core/api.js").Capture, title?: string, isPictured?: boolean, record?: RecordFacts, problem?: string,
 *   version: string}} ReportData `archive`: the one that has the capture, in a collection; `title`: of the
 *   document; `isPictured`: whether the archive's picture is that of the capture; `problem`: why the record can't be read
 */

/**
 * @param {import("../core/api.js").Archive} archive
 * @returns {boolean} whether its file is there, as it was verified. Nothing is stated of another file
 */
export const isAsVerified = (archive) => !isUnavailable(archive) && archive.verification !== "changed" && archive.verificationReport !== undefined;

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {{page?: string, ts?: string}} filter
 * @returns {Promise<ReportData|null>} `null` if the page wasn't captured
 */
export async function reportData(item, { page, ts = "" }) {
    const [{ version }, now] = await Promise.all([api.health(), api.details(item)]);
    const single = now.kind === "archive" ? now : undefined;
    if (!page || single && !isAsVerified(single)) return { item: now, archive: single, version };
    const { closest: capture } = await api.captures(now, page, { closest: ts, limit: 1 });
    if (!capture) return null;
    const archive = single ?? await api.details({ kind: "archive", id: capture.archive });
    if (!isAsVerified(archive)) return { item: now, archive, version };
    const [isPictured, found] = await Promise.all([isPictureOf(archive, capture), recordOf(archive, capture)]);
    const { failed } = archive.verificationReport.result.records;
    const records = [found.record, found.record?.repeats].filter((record) => record?.archive === archive.id);
    // A verification doesn't read the records that the signature doesn't cover.
    const isOtherThanVerified = !capture.uncovered && failed === 0 && records.some(({ digests }) => digests === "differs");
    if (isOtherThanVerified) return { item: now, archive: { ...archive, verification: "changed" }, version };
    return { item: now, archive, capture, isPictured, version, ...found };
}

/**
 * @param {RecordFacts} [record]
 * @returns {"differs"|"unreadable"|undefined} what is wrong with the record, or with that whose content is shown
 */
export const recordFault = (record) =>
    ["differs", "unreadable"].find((result) => [record?.digests, record?.repeats?.digests].includes(result));

/** Whether the archive's picture shows this capture, and not another one of its URL. */
async function isPictureOf(archive, { url, timestamp }) {
    const main = archive.mainPage;
    if (archive.picturedPage !== url || main?.url !== url) return false;
    const { closest } = await api.captures(archive, url, { closest: main.timestamp ?? "", limit: 1 });
    return closest?.timestamp === timestamp;
}

async function recordOf(archive, { url, timestamp, mime, status }) {
    const atThisTime = await api.records(archive.id, { url, timestamp }, "digests", "title");
    const found = atThisTime.filter((one) => one.mime === mime && (one.status === undefined || Number(one.status) === (status ?? Number(one.status))));
    const [first] = found;
    if (!first) return {};
    const { problem, title, repeats } = first;
    const recorded = !problem && found.length === 1 ? await statusOf(archive, first) : undefined;
    return { title, problem, record: { ...facts(first), status: recorded, count: found.length, repeats: repeats && facts(repeats) } };
}

/** The status in the record, which the index can state wrongly; `undefined` if another record would be shown for its URL and time. */
async function statusOf({ id }, { url, timestamp }) {
    try {
        const shown = await api.nearestCapture(id, url, timestamp);
        const isSame = shown?.isReadable && shown.timestamp === timestamp && [url, URL.canParse(url) && new URL(url).href].includes(shown.url);
        return isSame ? shown.status : undefined;
    } catch (error) {
        if (error.status === 0) throw error;
        return undefined;
    }
}

function facts({ archive, url, timestamp, digests, file, offset, length, isCompressed, record = [], http = [] }) {
    // Of a field that is there twice, none is chosen.
    const field = (fields, wanted) => fields.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value).join(", ") || undefined;
    const isHTTP = field(record, "content-type")?.startsWith("application/http");
    return { archive, url, timestamp, digests, file, offset, length, isCompressed,
        id: field(record, "warc-record-id"), type: field(record, "warc-type"), blockDigest: field(record, "warc-block-digest"),
        payloadDigest: field(record, "warc-payload-digest"),
        mime: isHTTP ? field(http, "content-type") : field(record, "content-type"), serverDate: isHTTP ? field(http, "date") : undefined };
}
