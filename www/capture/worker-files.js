/**
 * The part of the service worker that keeps the files of the app, so that it starts without the server.
 *
 * With a server, every file comes from it, so that no code is old. Of what came, the worker keeps whole sets only: one is
 * complete before it replaces another.
 */
"use strict";

const prefix = "app-";
const markPath = "/complete";
// A phone away from home waits minutes for an address there.
const navigationMilliseconds = 3000;
const pages = ["/", "/index.html", "/share"];
const isFile = (path) => /^\/(app|bundle|capture)\//.test(path);
// Pages that started without the server. All of their files come from the same set.
const offlineClients = new Set();
let isChanged = false;
let keeping = null;

/**
 * A complete set; `undefined` without one. There are two only while a new one replaces the old one. The old one comes first: if it
 * is gone when it's opened, the new one is complete.
 */
async function keptFiles() {
    for (const name of (await caches.keys()).filter((each) => each.startsWith(prefix)).sort()) {
        const cache = await caches.open(name);
        if (await cache.match(markPath)) return cache;
    }
    return undefined;
}

/** Fetches all files again, and replaces the set by the new one. */
async function keep(paths) {
    const name = `${prefix}${String(Date.now()).padStart(16, "0")}`;
    const cache = await caches.open(name);
    try {
        await cache.addAll(paths.map((path) => new Request(path, { cache: "no-cache" })));
        await cache.put(markPath, new Response(""));
    } catch {
        // The server or the space is gone. The old set stays.
        await caches.delete(name);
        return;
    }
    for (const other of await caches.keys()) {
        if (other.startsWith(prefix) && other < name) await caches.delete(other);
    }
    isChanged = false;
}

/** Keeps the files if they differ from the set, or aren't all in it. */
async function keepIfChanged(paths) {
    const cache = await keptFiles();
    const there = cache ? new Set((await cache.keys()).map(({ url }) => new URL(url).pathname + new URL(url).search)) : new Set();
    if (isChanged || !paths.every((path) => there.has(path))) await keep(paths);
}

/** Notes whether a file of the server differs from the kept one. */
async function compare(request, answer) {
    const old = await (await keptFiles())?.match(request);
    if (old?.headers.get("ETag") !== answer.headers.get("ETag")) isChanged = true;
}

async function fromServer(event, request) {
    const answer = await fetch(request);
    if (answer.ok) event.waitUntil(compare(request, answer.clone()));
    return answer;
}

/** Answers with the page: from the server, or if it doesn't answer in time, from the set. */
async function page(event) {
    const kept = await (await keptFiles())?.match("/");
    if (!kept) return fetch(event.request);
    const limit = new Promise((resolve) => setTimeout(resolve, navigationMilliseconds));
    const answer = await Promise.race([fromServer(event, new Request("/", { cache: "no-cache" })).catch(() => null), limit]);
    // Another program may have the address of the server now, for example in the network of a hotel.
    if (answer?.ok && answer.headers.get("Content-Security-Policy")?.includes("capture-worker")) return answer;
    offlineClients.add(event.resultingClientId);
    return kept;
}

async function file(event) {
    if (!offlineClients.has(event.clientId)) {
        try {
            return await fromServer(event, event.request);
        } catch {
            // The server has stopped since the page loaded.
        }
    }
    return await (await keptFiles())?.match(event.request) ?? fetch(event.request);
}

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
    const { origin, pathname } = new URL(event.request.url);
    if (event.request.method !== "GET" || origin !== self.location.origin) return;
    if (event.request.mode === "navigate") {
        if (pages.includes(pathname)) event.respondWith(page(event));
    } else if (isFile(pathname)) {
        event.respondWith(file(event));
    }
});
self.addEventListener("message", (event) => {
    const { keep: paths } = event.data ?? {};
    if (!Array.isArray(paths) || new URL(event.source.url).origin !== self.location.origin) return;
    keeping = Promise.resolve(keeping).then(() => keepIfChanged(paths.filter((path) => path === "/" || isFile(path))));
    event.waitUntil(keeping);
});
