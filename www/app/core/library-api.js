/** The API client of the library. `api.js` has all of it. */
import { ofKind, path, read } from "./request.js";
import { encoded, encodedAll } from "./routes.js";

/**
 * @param {import("./route-types.js").LibraryFilter} filter
 * @param {{offset: number, limit: number, signal?: AbortSignal}} part
 * @returns {Promise<{total: number, items: import("./api.js").Archive[]}>} `total`: of the archives that the filter leaves
 */
export async function filteredArchives(filter, { offset, limit, signal }) {
    const { total, archives: found } = await read(`/api/archives?${libraryQuery(filter)}&offset=${offset}&limit=${limit}`, { signal });
    return { total, items: found.map(ofKind("archive")) };
}

/**
 * @param {import("./route-types.js").LibraryFilter} [filter] of all archives by default
 * @param {AbortSignal} [signal]
 * @returns {Promise<import("./api.js").Facets>}
 */
export const facets = (filter = { tag: [] }, signal) => read(`/api/facets?${libraryQuery(filter)}`, { signal });

export const libraryQuery = ({ q, tag, site, year, saved, state, sort }) =>
    encoded([["q", q?.trim()], ...tag.map((one) => ["tag", one]), ["site", site], ["year", year], ["saved", saved], ["state", state], ["sort", sort || "-added"]]);

/** @returns {Promise<import("./api.js").Collection[]>} members as IDs */
export const collections = async () => (await read("/api/collections")).collections.map(ofKind("collection"));

/**
 * @param {import("./route-types.js").Target} target with an ID or, for an archive, the original file name without `.wacz`
 * @returns {Promise<import("./api.js").Archive|import("./api.js").Collection>}
 */
export const details = async (target) => ofKind(target.kind)(await read(path(target)));

// The server doesn't look up longer URLs (414).
const urlBytesMax = 16_384;

/** @returns {boolean} whether a URL is too long to have been captured */
export const isTooLong = (url) => url.length > urlBytesMax || new TextEncoder().encode(url).length > urlBytesMax;

/**
 * @param {import("./route-types.js").Target} target
 * @param {string} url
 * @param {Object<string, string|number>} part which of its captures
 * @returns {string} the path of a list of captures
 */
export const capturesPath = (target, url, part) =>
    `${path(target)}/captures?${encodedAll(Object.entries({ url: url.replace(/#.*$/s, ""), limit: 100, ...part }))}`;
