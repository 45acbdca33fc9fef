/** Finds captures that only repeat an earlier one: those with the same digest in the index, such as revisits. */
import * as api from "../core/api.js";
import { withoutFragment } from "../core/fragments.js";

// Of captures of GET requests only. The responses to other requests have keys of their own.
const isGet = "~method:(GET)?$";
// Redirects and errors of servers often have no content, which says nothing.
const emptyDigest = /3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ|DA39A3EE5E6B4B0D3255BFEF95601890AFD80709|E3B0C44298FC1C149AFBF4C8996FB924/i;
const linesMax = 2000;

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {string} url
 */
export function createCaptureRuns(archive, url) {
    const read = (parameters) => api.indexLines(archive.id, { url: withoutFragment(url), matchType: "exact", filter: isGet, ...parameters });
    let isOneKey;

    /** Whether all captures have one key in the index, so that its lines are in order of time. */
    const hasOneKey = () => {
        isOneKey ??= read({ collapse: "urlkey", fields: "urlkey", limit: 2 }).then((lines) => lines.length === 1);
        return isOneKey;
    };

    /** Returns the time since when the content is that of this capture; its own time if the one before differs. */
    async function startOf({ timestamp }, digest) {
        if (!await hasOneKey()) return timestamp;
        const [start] = await read({ to: timestamp, collapse: "digest", sort: "reverse", limit: 1, fields: "timestamp,digest" });
        return start?.digest === digest ? start.timestamp : timestamp;
    }

    return {
        /**
         * Divides captures into runs with the same digest.
         *
         * @param {import("../core/api.js").Capture[]} captures in order of time, without gaps
         * @returns {Promise<{since: string, captures: import("../core/api.js").Capture[]}[]>} `since`: the timestamp since when the
         *   content is the same; that of the first capture if the content is new with it
         */
        async of(captures) {
            if (captures.length === 0) return [];
            const lines = await read({ from: captures[0].timestamp, to: captures.at(-1).timestamp, fields: "timestamp,url,digest",
                limit: linesMax });
            const digests = new Map(lines.map(({ timestamp, url: each, digest }) => [`${timestamp} ${each}`, digest]));
            const digestOf = ({ timestamp, url: each, request, status }) => {
                const digest = !request && !(status >= 300 && status < 400) && digests.get(`${timestamp} ${each}`);
                return digest && digest !== "-" && !emptyDigest.test(digest) ? digest : "";
            };
            const runs = [];
            for (const capture of captures) {
                const run = runs.at(-1);
                const digest = digestOf(capture);
                const isSame = run && digest !== "" && digest === run.digest && isSameStatus(run.captures[0], capture);
                if (isSame) run.captures.push(capture);
                else runs.push({ digest, since: capture.timestamp, captures: [capture] });
            }
            const [first] = runs;
            if (first.digest !== "") first.since = await startOf(first.captures[0], first.digest);
            return runs;
        },
    };
}

/** The index may state no status for revisits. */
const isSameStatus = (one, other) => one.status === other.status || one.status === undefined || other.status === undefined;
