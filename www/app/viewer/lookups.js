/** Looks up captures in an archive or collection, with a cache of the latest answers. */
import * as api from "../core/api.js";
import { encodedURL, withoutFragment } from "../core/captures.js";
import { createCache } from "../core/newest.js";

const answersMax = 50;

/** @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive */
export function createLookups(archive) {
    const lists = createCache(answersMax);
    const fuzzyMatches = createCache(answersMax);

    /** Returns the captures of a URL around the one closest to a time; the latest when the time is empty. */
    function capturesOf(url, timestamp) {
        const address = withoutFragment(url);
        return lists.get(`${timestamp} ${address}`, async () => {
            const list = await api.captures(archive, address, { closest: timestamp });
            const { closest } = list;
            // The page reports the URL and the time of its capture, whose list is the same.
            if (closest && !closest.request) lists.get(`${closest.timestamp} ${withoutFragment(closest.url)}`, async () => list);
            return list;
        });
    }

    /** Returns the fuzzy match of a URL without captures, and the captures of the matching URL. */
    async function nearest(url, timestamp) {
        const key = `${timestamp} ${withoutFragment(url)}`;
        const capture = await fuzzyMatches.get(key, () => api.nearestCapture(archive.id, url, timestamp));
        return { capture, list: capture && await capturesOf(capture.url, capture.timestamp) };
    }

    /** Returns the captures of a similar URL, with the URL that they stand for. */
    const standIn = (list, similarTo) => list && { ...list, similarTo };

    return {
        capturesOf,

        /** Returns the captures around this one as they are now. Other answers may be of the file before it changed, so they're forgotten. */
        now({ url, request, timestamp }) {
            lists.clear();
            return capturesOf(request ?? url, timestamp);
        },

        nearest,
        standIn,

        /**
         * Returns the captures of a typed URL.
         *
         * @param {string} url
         * @param {string} timestamp
         * @param {boolean} exactly whether fuzzy matches are excluded
         */
        async typed(url, timestamp, exactly) {
            let list = await capturesOf(url, timestamp);
            if (!list.closest) list = await capturesOf(encodedURL(url), timestamp);
            if (!list.closest && !exactly) list = standIn((await nearest(url, timestamp)).list, url);
            return list;
        },

        /** Clears the cached fuzzy matches. A capture that couldn't be read may be readable now. */
        forgetNearest: () => fuzzyMatches.clear(),
    };
}
