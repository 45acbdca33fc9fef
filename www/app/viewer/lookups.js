/** The captures that a viewer asks its archive or collection for. The last answers are remembered. */
import * as api from "../core/api.js";
import { encodedAddress, withoutFragment } from "../core/captures.js";
import { createMemory } from "../core/newest.js";

const answersMax = 50;

/** @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive */
export function createLookups(archive) {
    const lists = createMemory(answersMax);
    const standIns = createMemory(answersMax);

    /** The captures of a URL around the one that is closest to a time; empty for the latest. */
    function capturesOf(url, timestamp) {
        const key = withoutFragment(url);
        return lists.get(`${timestamp} ${key}`, () => api.captures(archive, key, { closest: timestamp }));
    }

    /** What stands for a URL that has no capture of its own: a capture of another one, and those of that. */
    async function nearest(url, timestamp) {
        const key = `${timestamp} ${withoutFragment(url)}`;
        const capture = await standIns.get(key, () => api.nearestCapture(archive.id, url, timestamp));
        return { capture, list: capture && await capturesOf(capture.url, capture.timestamp) };
    }

    return {
        capturesOf,
        nearest,

        /**
         * The captures that a typed URL means.
         *
         * @param {string} url
         * @param {string} timestamp
         * @param {boolean} exactly whether nothing may stand for it
         */
        async typed(url, timestamp, exactly) {
            let list = await capturesOf(url, timestamp);
            if (!list.closest) list = await capturesOf(encodedAddress(url), timestamp);
            if (!list.closest && !exactly) list = (await nearest(url, timestamp)).list;
            return list;
        },

        /** Asks the server anew what stands for a URL: what keeps a capture from being read may be over. */
        forgetNearest: () => standIns.clear(),
    };
}
