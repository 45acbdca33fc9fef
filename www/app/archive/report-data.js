/** Reads what an evidence report states: the archive, and for a page its capture and its record. */
import * as api from "../core/api.js";
import { withoutFragment } from "../core/captures.js";
import { openWACZ, readRecordHead } from "../core/wacz-file.js";

/**
 * @typedef {{name?: string, isCompressed?: boolean, id?: string, type?: string, blockDigest?: string, payloadDigest?: string,
 *   filename: string, offset: number, length: number, serverDate?: string, count: number}} RecordFacts `name`: its WARC file in the
 *   ZIP; `serverDate`: the time that the web server stated; `count`: records of the URL at this time, of which this is the first
 * @typedef {{item: import("../core/api.js").Archive|import("../core/api.js").Collection, archive?: import("../core/api.js").Archive,
 *   capture?: import("../core/api.js").Capture, title?: string, record?: RecordFacts, problem?: unknown,
 *   version: string}} ReportData `archive`: the one that has the
 *   capture, in a collection; `problem`: why the record's header can't be read
 */

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {{page?: string, ts?: string}} filter
 * @returns {Promise<ReportData|null>} `null` if the page wasn't captured
 */
export async function reportData(item, { page, ts = "" }) {
    const version = (await api.health()).version;
    const now = await api.details(item);
    if (!page) return { item: now, archive: now.kind === "archive" ? now : undefined, version };
    const { closest: capture } = await api.captures(now, page, { closest: ts, limit: 1 });
    if (!capture) return null;
    const archive = now.kind === "archive" ? now : await api.details({ kind: "archive", id: capture.archive });
    const [title, found] = await Promise.all([titleOf(archive, capture), recordOf(archive, capture)]);
    return { item: now, archive, capture, title, version, ...found };
}

async function titleOf(archive, { url, timestamp }) {
    const { pages } = await api.pages(archive, { query: withoutFragment(url) });
    const same = pages.filter((page) => page.url === url);
    return (same.find((page) => page.timestamp?.slice(0, 14) === timestamp.slice(0, 14)) ?? same[0])?.title;
}

async function recordOf(archive, { url, timestamp, mime, status }) {
    const atThisTime = await api.indexEntries(archive.id, url, timestamp);
    const entries = atThisTime.filter((entry) => entry.url === url && entry.timestamp === timestamp
        && entry.mime === mime && (entry.status === undefined || Number(entry.status) === (status ?? Number(entry.status))));
    const [entry] = entries;
    if (!entry?.filename || !entry.length) return {};
    const place = { filename: entry.filename, offset: Number(entry.offset), length: Number(entry.length) };
    const record = { ...place, payloadDigest: entry.digest, count: entries.length };
    try {
        const { name, isCompressed, fields, http } = await readRecordHead(await openWACZ(archive), place);
        const isHTTP = fields.get("content-type")?.startsWith("application/http");
        return { record: { ...record, name, isCompressed, id: fields.get("warc-record-id"), type: fields.get("warc-type"),
            blockDigest: fields.get("warc-block-digest"), payloadDigest: fields.get("warc-payload-digest") ?? entry.digest,
            serverDate: isHTTP ? http.get("date") : undefined } };
    } catch (problem) {
        if (problem.status === 0) throw problem;
        return { record, problem };
    }
}
