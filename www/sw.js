// The service worker of a replay origin: the replay engine, and a wall around it.
//
// Archived scripts run at this origin too. They can give the engine other settings, so the policy that it sends is
// not relied on: every response that leaves this worker carries the policy of this file and no other.
"use strict";
{
    // The address that this worker was made for, and the header fields that every response gets.
    const { address, fields } = {{worker}};

    // What the server answers at this origin. The engine also has an API there, which nobody here needs.
    const ofServer = /^\/(?:$|clear$|sw\.js$|engine\.js$|(?:api|archives|c)\/)/;

    // The fields of an archived response that a document, a script or an image may have. Others can make a browser
    // load something (Link, Refresh), send reports, or change its security. A script that fetches sees all but the last.
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
