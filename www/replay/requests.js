// Reports what pages request, and which captures answer. The server keeps it (`PageRequests.swift`) for the viewer, which can't
// believe a message from this origin. A part of sw.js, whose names it uses.

const { fetch } = self;
const answers = new WeakMap();
const reportMilliseconds = 200;
const reportCharactersMax = 200_000;
const leavingMilliseconds = 1000;
let reports = [];
let sending = null;

const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Returns the archived URL and the time in a replay URL; `null` for other URLs. */
const addressIn = (text) => {
    const page = replayed(text.split("#")[0]);
    return page && { url: page.url, timestamp: /(\d*)[a-z]+_\/$/.exec(page.start)[1] };
};

const isSame = (one, other) => one?.url === other?.url && one?.timestamp === other?.timestamp;

/** Notes the capture with which the engine answers: by lookups as the server names it. */
const noteAnswer = (event, request, archived, isByLookups) => {
    // Redirects lead to another request.
    if (archived instanceof Response) return;
    const address = addressIn(event.request.url);
    // The URL with the data of a form
    const asked = address && methodIn(request.url) ? { ...address, url: request.url } : address;
    const [, timestamp, url] = isByLookups
        && /^\/c\/[^/]+\/(\d{4,17})ir_\/(.+)$/s.exec(archived?.headers.get("content-location") ?? "") || [];
    const isCapture = archived && (!isByLookups || archived.headers.has("memento-datetime"));
    const dated = () => ({ url: archived.url, timestamp: archived.date.toISOString().replace(/\D/g, "").replace(/000$/, "") });
    answers.set(event, { asked, answer: timestamp ? { url, timestamp } : isCapture ? dated() : undefined });
};

const archivedClients = async () => (await self.clients.matchAll({ type: "all", includeUncontrolled: true }))
    .filter(({ url }) => addressIn(url));

/** Returns the documents that a request belongs to: the one that made it, else all that are open. */
const pagesOf = async ({ clientId, request }) => {
    const client = clientId && await self.clients.get(clientId);
    // The agent's page requests icons for the viewer.
    if (client && new URL(client.url).pathname === "/") return [];
    const page = addressIn(client?.url ?? "") ?? addressIn(request.referrer);
    return page ? [{ page }] : (await archivedClients()).map(({ url }) => ({ page: addressIn(url) }));
};

/**
 * Returns what a new document belongs to: the document that it is in, or that it replaces in a frame. The one that asks for it
 * is still there in the first case.
 *
 * @param {Client[]} before the documents when it was requested
 */
const placesOf = async ({ request, resultingClientId }, before) => {
    if (viewers.includes(request.referrer)) return [];
    const from = addressIn(request.referrer);
    const left = async () => {
        const ids = new Set((await archivedClients()).map(({ id }) => id));
        return before.filter(({ id, url }) => ids.has(id) && (!from || isSame(addressIn(url), from)));
    };
    // Files that are saved never arrive.
    if (!await self.clients.get(resultingClientId)) return [];
    // Only frames have this modifier. A document that leaves can still be listed for a moment.
    if (!/\d*if_\/$/.test(replayed(request.url).start)) await wait(leavingMilliseconds);
    const pages = await left();
    if (!from) return pages.map(({ url }) => ({ page: addressIn(url) }));
    return [pages.length > 0 ? { page: from } : { replaced: from }];
};

const report = async (event, before) => {
    const { request } = event;
    const isDocument = request.mode === "navigate";
    const target = addressIn(request.url);
    // Frames that a script fills have no capture.
    const noted = answers.get(event) ?? (target && !/^https?:/.test(target.url) ? { asked: target } : null);
    if (!noted) return;
    if (isDocument && noted.answer) reports.push({ ...noted, isDocument });
    for (const place of await (isDocument ? placesOf(event, await before) : pagesOf(event))) {
        reports.push({ ...noted, ...place, isDocument });
    }
    sending ??= send();
    await sending;
};

/** Reports a request when it was answered. */
const reported = (event, response) => {
    const before = event.request.mode === "navigate" ? archivedClients() : null;
    event.waitUntil(response.then(() => report(event, before)).catch(() => {}));
    return response;
};

const send = async () => {
    await wait(reportMilliseconds);
    sending = null;
    while (reports.length > 0) {
        let [count, characters] = [0, 0];
        while (count < reports.length && characters < reportCharactersMax) {
            characters += JSON.stringify(reports[count]).length;
            count += 1;
        }
        const body = JSON.stringify({ requests: reports.splice(0, count) });
        await fetch.call(self, "/requests", { method: "POST", body, headers: { "content-type": "application/json" } }).catch(() => {});
    }
};
