// The service worker of a replay origin: the replay engine, with enforced security headers.
//
// Archived scripts run at this origin too, and can change the engine's settings. So nothing relies on the headers that
// the engine sets: every readable response gets those of this file.
"use strict";
{
    // The URL that this worker is for, and the header fields that every response gets.
    const { address, fields } = {{worker}};

    // Paths of the server, including the engine's own /api/, which replayhost doesn't use.
    const ofServer = /^\/(?:$|clear$|print$|sw\.js$|engine\.js$|static\/proxy\/page\.js$|(?:api|archives|c)\/)/;

    // The fields of an archived response that a document, a script or an image keeps. Others can make a browser load
    // something (Link, Refresh), send reports or change its security. fetch() gets them too, except those in `dropped`.
    const allowed = new Set([
        "accept-ranges", "cache-control", "content-disposition", "content-language", "content-length", "content-location",
        "content-range", "content-type", "date", "etag", "expires", "last-modified", "location", "memento-datetime", "vary",
        "x-content-type-options",
    ]);

    const dropped = ["content-security-policy-report-only", "nel", "report-to", "reporting-endpoints"];

    // What browsers show in a frame. They save the rest as a file, and tell nobody.
    const shown = /^(?:text\/(?:html|plain|css|javascript|xml|xsl)|application\/(?:pdf|javascript|json|xml|[^;]+\+(?:xml|json))|image\/(?:png|jpeg|gif|webp|avif|svg\+xml|bmp|x-icon|vnd\.microsoft\.icon)|(?:audio|video)\/(?:mp4|mpeg|mp3|ogg|webm|wav|x-wav|aac|flac))\s*(?:;|$)/i;

    /** Tells our page at this origin of a document that may never arrive. */
    const tellOfFile = async ({ headers, status, type }, url) => {
        const isDocument = ![204, 205].includes(status) && type !== "error"
            && !isToSave(headers, url) && (headers.has("location") || shown.test(headers.get("content-type") ?? ""));
        if (isDocument) return;
        for (const client of await self.clients.matchAll({ type: "window", includeUncontrolled: true })) {
            if (new URL(client.url).pathname === "/") client.postMessage({ replayhost: "file", url });
        }
    };

    const isAttachment = (headers) => /^\s*attachment/i.test(headers.get("content-disposition") ?? "");

    // What Scoop adds to a capture is called an attachment too, and listed as pages: `file:///dom-snapshot.html`.
    const isToSave = (headers, url) => isAttachment(headers) && !/^file:/i.test(replayed(url)?.url ?? "");

    const guarded = (original, { destination, mode, url }) => {
        if (mode === "navigate") tellOfFile(original, url);
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
        if (isAttachment(headers) && !isToSave(headers, url)) headers.delete("content-disposition");
        for (const [name, value] of Object.entries(fields)) headers.set(name, value);
        return new Response(body, { status, statusText, headers });
    };

    /**
     * The parts of a replay address, `/COLLECTION/:PACKAGE/TIME mp_/URL`.
     *
     * @returns {{start: string, url: string}|null} `start`: all that is before the URL; `null` for other addresses
     */
    const replayed = (address) => {
        if (!address.startsWith(`${location.origin}/`)) return null;
        const match = /^(\/[^/]+\/(?::[\w-]+\/)?\d*[a-z]+_\/)(.+)$/s.exec(address.slice(location.origin.length));
        // A frame made of text is a blob: the address of the page that made it follows.
        return match && { start: match[1], url: match[2].replace(/^blob:[^/]*\//, "") };
    };

    /**
     * The address of the archived page that asks, as far as it can be known. Pages can withhold the referrer, and WebKit
     * tells workers none. Frames made of text, and in WebKit links, leave only the pages of one site that are open.
     */
    const pageAddress = async ({ request, clientId }) => {
        if (replayed(request.referrer)) return request.referrer;
        const client = clientId && await self.clients.get(clientId);
        if (client && replayed(client.url)) return client.url;
        const open = (await self.clients.matchAll()).map(({ url }) => url).filter(replayed);
        const sites = new Set(open.map((address) => originOf(replayed(address).url)));
        return sites.size === 1 ? open[0] : "";
    };

    const originOf = (url) => URL.canParse(url) ? new URL(url).origin : "";

    /**
     * Has the engine answer a request for a replay address. One that the engine didn't rewrite in the page is relative to
     * the root of the archived site: it is redirected to the replay address that it stands for.
     */
    const resolve = async (event, url) => {
        const { request } = event;
        const target = replayed(request.url);
        const isRewritten = target || self.sw.staticData.has(url.origin + url.pathname);
        const isComplete = isRewritten && !target?.url.startsWith("//");
        const address = isComplete ? "" : await pageAddress(event);
        const page = replayed(address);
        if (page && !isRewritten && originOf(page.url)) {
            return Response.redirect(page.start + new URL(url.href.slice(url.origin.length), page.url).href, 307);
        }
        // The engine takes the scheme of a URL that has none from the referrer.
        if (page) Object.defineProperty(request, "referrer", { value: address });
        const response = await self.sw.handleFetch(event);
        return documents.includes(request.destination) ? rewriteXML(response, target) : response;
    };

    const documents = ["frame", "iframe"];
    const bytesOfXMLMax = 8 << 20;
    const comments = "<!--[^]*?(?:-->|$)|<!\\[CDATA\\[[^]*?(?:\\]\\]>|$)";
    const partsOfXML = {
        "application/xhtml+xml": new RegExp(`${comments}|<[^<>!][^<>]*>`, "g"),
        "image/svg+xml": new RegExp(`${comments}|<[^<>!][^<>]*>`, "g"),
        "application/xml": /<\?xml-stylesheet[^<>]*>/g,
        "text/xml": /<\?xml-stylesheet[^<>]*>/g,
    };
    const urlsOfXML = /(\s(?:xlink:)?(?:action|data|href|poster|src)\s*=\s*["'])(https?:\/\/|\/\/?)/gi;

    /**
     * The engine doesn't rewrite XML. URLs with a host would leave the origin and be blocked, and links don't tell WebKit's
     * workers which page they are on, so URLs become replay addresses here. The text is read byte by byte, since the
     * beginnings of URLs are the same in all encodings that matter.
     */
    const rewriteXML = async (response, page) => {
        const type = (response.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase();
        if (!page || !originOf(page.url) || !response.body || !Object.hasOwn(partsOfXML, type)) return response;
        const { status, statusText, headers } = response;
        const bytes = new Uint8Array(await response.arrayBuffer());
        if (bytes.length > bytesOfXMLMax) return new Response(bytes, { status, statusText, headers });
        let text = "";
        for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
        const { origin, protocol } = new URL(page.url);
        const place = (match, name, url) => {
            const context = { "/": origin, "//": protocol }[url] ?? "";
            return `${name}${page.start}${context}${url}`;
        };
        const rewritten = text.replace(partsOfXML[type], (part) =>
            part.startsWith("<!") ? part : part.replace(urlsOfXML, place));
        return new Response(Uint8Array.from(rewritten, (letter) => letter.charCodeAt(0)), { status, statusText, headers });
    };

    /**
     * Whether a request bypasses the engine. Archived pages are shown in the viewer's frame only: a tab of its own could
     * go anywhere. An archived page may ask for paths of the server and mean those of its site.
     */
    const isForServer = ({ destination, referrer }, { pathname }) => destination === "document"
        || ofServer.test(pathname) && (pathname.startsWith("/static/")
            || ["", "iframe"].includes(destination) && !replayed(referrer));

    /** The engine shows every file in its frame; one that its server sent to be saved is saved. */
    const keepAttachments = () => {
        const { set } = Headers.prototype;
        Headers.prototype.set = function (name, value) {
            const isOverruled = value === "inline" && name === "content-disposition" && isAttachment(this);
            if (!isOverruled) set.call(this, name, value);
        };
    };

    const guardEngine = () => {
        keepAttachments();
        const { respondWith } = FetchEvent.prototype;
        FetchEvent.prototype.respondWith = function (answer) {
            return respondWith.call(this, Promise.resolve(answer).then((response) => guarded(response, this.request)));
        };
        self.addEventListener("fetch", (event) => {
            const { request } = event;
            const url = new URL(request.url);
            event.stopImmediatePropagation();
            if (url.origin !== location.origin) {
                event.respondWith(Response.error());
            } else if (!isForServer(request, url)) {
                event.respondWith(resolve(event, url));
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
