// The service worker of a replay origin: the replay engine, with enforced security headers.
//
// Archived scripts run at this origin too, and can change the engine's settings. So nothing relies on the headers that
// the engine sets: every readable response gets those of this file.
"use strict";
{
    // The URL that this worker is for, and the header fields that every response gets.
    const { address, fields } = {{worker}};

    // Requests for these paths bypass the engine, including its own /api/, which replayhost doesn't use.
    const ofServer = /^\/(?:$|clear$|sw\.js$|engine\.js$|(?:api|archives|c)\/)/;

    // The fields of an archived response that a document, a script or an image keeps. Others can make a browser load
    // something (Link, Refresh), send reports or change its security. fetch() gets them too, except those in `dropped`.
    const allowed = new Set([
        "accept-ranges", "cache-control", "content-disposition", "content-language", "content-length", "content-location",
        "content-range", "content-type", "date", "etag", "expires", "last-modified", "location", "memento-datetime", "vary",
        "x-content-type-options",
    ]);

    const dropped = ["content-security-policy-report-only", "nel", "report-to", "reporting-endpoints"];

    const guarded = (original, { destination, mode, url }) => {
        // A network error, or a redirect of the server that the browser follows by itself: nothing to read, nothing to change.
        if (original.type === "error" || original.type === "opaqueredirect") return original;
        const { body, status, statusText } = original;
        const target = original.headers.get("location");
        if (target !== null && new URL(target, url).origin !== location.origin) return Response.error();
        const isForScript = destination === "" && mode !== "navigate";
        const headers = new Headers();
        for (const [name, value] of original.headers) {
            if (isForScript ? !dropped.includes(name) : allowed.has(name)) headers.append(name, value);
        }
        for (const [name, value] of Object.entries(fields)) headers.set(name, value);
        return new Response(body, { status, statusText, headers });
    };

    const guardEngine = () => {
        const { respondWith } = FetchEvent.prototype;
        FetchEvent.prototype.respondWith = function (answer) {
            return respondWith.call(this, Promise.resolve(answer).then((response) => guarded(response, this.request)));
        };
        self.addEventListener("fetch", (event) => {
            const { request } = event;
            const url = new URL(request.url);
            if (url.origin !== location.origin) {
                event.stopImmediatePropagation();
                event.respondWith(Response.error());
            } else if (ofServer.test(url.pathname) || request.destination === "document") {
                // Archived pages are shown in the viewer's frame only: a tab of its own could go anywhere.
                event.stopImmediatePropagation();
            }
        });
        importScripts("/engine.js");
    };

    /** A worker of an earlier version, or one that an archived script registered: it removes itself. */
    const retire = () => {
        self.addEventListener("install", () => self.skipWaiting());
        self.addEventListener("activate", (event) => event.waitUntil(self.registration.unregister()));
    };

    const isWanted = location.pathname + location.search === address
        && self.registration?.scope === `${location.origin}/`;
    if (isWanted) guardEngine();
    else retire();
}
