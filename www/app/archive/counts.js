/** What the index of an archive lists: captures by site, type and month. For a collection, the sums over its archives. */
import { isUnavailable } from "../components/availability.js";
import * as api from "../core/api.js";

const membersMax = 40;
const requestsAtOnce = 4;
// The file can't be read since a moment ago, or it was removed.
const withoutCounts = [404, 409, 503];

/**
 * @typedef {{captures: number, urls?: number, sites: {host: string, captures: number}[], otherSites: {captures: number},
 *   types: {type: string, captures: number}[], months: {month: string, captures: number}[]}} Counts `urls` is unknown for a
 *   collection, since its archives can have the same URLs
 */

/**
 * Reads the counts once, for all tabs. A failure isn't kept.
 *
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {() => Promise<Counts|null>} `null` if there are none
 */
export function createCounts(item) {
    let reading = null;
    return () => {
        reading ??= (item.kind === "collection" ? sumOf(item.members) : countsOf(item)).catch((error) => {
            reading = null;
            throw error;
        });
        return reading;
    };
}

async function countsOf(archive) {
    if (isUnavailable(archive)) return null;
    try {
        return await api.counts(archive.id);
    } catch (error) {
        if (withoutCounts.includes(error.status)) return null;
        throw error;
    }
}

async function sumOf(members) {
    if (members.length === 0 || members.length > membersMax) return null;
    const waiting = [...members];
    const found = [];
    await Promise.all(Array.from({ length: requestsAtOnce }, async () => {
        while (waiting.length > 0) {
            const counts = await countsOf(waiting.shift());
            if (counts) found.push(counts);
        }
    }));
    if (found.length === 0) return null;
    const sum = (values) => values.reduce((total, value) => total + value, 0);
    const most = (one, other) => other.captures - one.captures;
    return {
        captures: sum(found.map(({ captures }) => captures)),
        sites: grouped(found, "sites", "host").sort(most),
        otherSites: { captures: sum(found.map(({ otherSites }) => otherSites.captures)) },
        types: grouped(found, "types", "type").sort(most),
        months: grouped(found, "months", "month").sort((one, other) => (one.month < other.month ? -1 : 1)),
    };
}

function grouped(all, list, key) {
    const totals = new Map();
    for (const entry of all.flatMap((counts) => counts[list])) {
        totals.set(entry[key], (totals.get(entry[key]) ?? 0) + entry.captures);
    }
    return [...totals].map(([value, captures]) => ({ [key]: value, captures }));
}
