// The service worker of a replay origin: the replay engine, with enforced security headers.
//
// Archived scripts run at this origin too, and can change the engine's settings. So this file sets the security headers of
// every readable response and doesn't rely on the engine's.
"use strict";
{
    // The URL of this version's worker, the header fields for every response, the referrers of the viewer, and the archived
    // header fields to keep.
    const { address, fields, viewers, kept } = {{worker}};

    // Paths of the server, including the engine's own /api/, which replayhost doesn't use.
    const ofServer = /^\/(?:$|clear$|print$|sw\.js$|engine\.js$|static\/proxy\/page\.js$|(?:api|archives|c)\/)/;

    /**
     * Whether a response keeps an archived header field. Others can make a browser load something (Link, Refresh), send
     * reports or change its security. The server has the same lists (`CaptureFields.swift`), and inserts them here.
     */
    const isKept = (name, isForScript) => kept.documents.includes(name) || isForScript && (kept.scripts.includes(name)
        || name.startsWith(kept.ownPrefix) && !kept.notOwn.some((start) => name.startsWith(start)));

    // Types that browsers show in a frame. They save others as a file, without an event.
    const displayable = /^(?:text\/(?:html|plain|css|javascript|xml|xsl)|application\/(?:pdf|javascript|json|xml|[^;]+\+(?:xml|json))|image\/(?:png|jpeg|gif|webp|avif|svg\+xml|bmp|x-icon|vnd\.microsoft\.icon)|(?:audio|video)\/(?:mp4|mpeg|mp3|ogg|webm|wav|x-wav|aac|flac))\s*(?:;|$)/i;

    /** Tells the agent's page about a document that may never arrive. */
    const reportFile = async ({ headers, status, type }, url) => {
        const isDocument = ![204, 205].includes(status) && type !== "error"
            && !isToSave(headers, url) && (headers.has("location") || displayable.test(headers.get("content-type") ?? ""));
        if (isDocument) return;
        for (const client of await self.clients.matchAll({ type: "window", includeUncontrolled: true })) {
            if (new URL(client.url).pathname === "/") client.postMessage({ replayhost: "file", url });
        }
    };

    const isAttachment = (headers) => /^\s*attachment/i.test(headers.get("content-disposition") ?? "");

    // Scoop adds pages such as `file:///dom-snapshot.html` as attachments, which should be shown.
    const isToSave = (headers, url) => isAttachment(headers) && !/^file:/i.test(replayed(url)?.url ?? "");

    const guarded = (original, { destination, mode, url }) => {
        if (mode === "navigate") reportFile(original, url);
        // Network errors and the server's redirects have no readable content.
        if (original.type === "error" || original.type === "opaqueredirect") return original;
        const { body, status, statusText } = original;
        const target = original.headers.get("location");
        if (target !== null && new URL(target, url).origin !== location.origin) return Response.error();
        const isForScript = destination === "" && mode !== "navigate";
        const headers = new Headers();
        for (const [name, value] of original.headers) {
            if (isKept(name, isForScript)) headers.append(name, value);
        }
        if (isAttachment(headers) && !isToSave(headers, url)) headers.delete("content-disposition");
        for (const [name, value] of Object.entries(fields)) headers.set(name, value);
        return new Response(body, { status, statusText, headers });
    };

    /**
     * Returns the parts of a replay URL, `/COLLECTION/:PACKAGE/TIMEmp_/URL`.
     *
     * @returns {{start: string, url: string}|null} `start`: the part before the archived URL; `null` for other URLs
     */
    const replayed = (address) => {
        if (!address.startsWith(`${location.origin}/`)) return null;
        const match = /^(\/[^/]+\/(?::[\w-]+\/)?\d*[a-z]+_\/)(.+)$/s.exec(address.slice(location.origin.length));
        // The page's URL follows the `blob:` prefix in frames that are made from text.
        return match && { start: match[1], url: match[2].replace(/^blob:[^/]*\//, "") };
    };

    /**
     * Returns the replay URL of the archived page that makes a request, if it can be determined. Pages can omit the referrer,
     * and WebKit gives workers none. For frames made from text, and links in WebKit, only the open pages can tell, if all
     * are from one site.
     */
    const requestingPageURL = async ({ request, clientId }) => {
        if (replayed(request.referrer)) return request.referrer;
        const client = clientId && await self.clients.get(clientId);
        if (client && replayed(client.url)) return client.url;
        const open = (await self.clients.matchAll()).map(({ url }) => url).filter(replayed);
        const sites = new Set(open.map((address) => originOf(replayed(address).url)));
        return sites.size === 1 ? open[0] : "";
    };

    const originOf = (url) => URL.canParse(url) ? new URL(url).origin : "";

    /**
     * Lets the engine answer a request for a replay URL. A URL that the engine didn't rewrite in the page is relative to the
     * root of the archived site, and is redirected to its replay URL.
     */
    const resolve = async (event, url) => {
        const { request } = event;
        const target = replayed(request.url);
        const isRewritten = target || self.sw.staticData.has(url.origin + url.pathname);
        const isComplete = isRewritten && !target?.url.startsWith("//");
        const address = isComplete ? "" : await requestingPageURL(event);
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
     * Rewrites URLs in XML, which the engine doesn't. URLs with a host would leave the origin and be blocked, and WebKit's
     * workers can't tell which page a link is on. The text is read byte by byte, since the start of a URL is the same in all
     * relevant encodings.
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
        const rewrite = (match, name, url) => {
            const context = { "/": origin, "//": protocol }[url] ?? "";
            return `${name}${page.start}${context}${url}`;
        };
        const rewritten = text.replace(partsOfXML[type], (part) =>
            part.startsWith("<!") ? part : part.replace(urlsOfXML, rewrite));
        return new Response(Uint8Array.from(rewritten, (letter) => letter.charCodeAt(0)), { status, statusText, headers });
    };

    /**
     * Whether a request bypasses the engine. Archived pages are shown only in the viewer's frame, since a tab could navigate
     * anywhere. When an archived page requests one of the server's paths, it means a path of its own site.
     */
    const isForServer = ({ destination, referrer }, { pathname }) => destination === "document"
        || ofServer.test(pathname) && (pathname.startsWith("/static/")
            || ["", "iframe"].includes(destination) && !replayed(referrer));

    /**
     * Whether the viewer or a page of this origin requests a document. Other archives' pages must not. Where a page omits
     * the referrer, the server decides, because it gets `Sec-Fetch-Site`.
     */
    const isWantedHere = ({ mode, referrer }) => mode !== "navigate" || viewers.includes(referrer)
        || referrer.startsWith(`${location.origin}/`);

    /** Keeps `attachment`, which the engine replaces by `inline`, so that browsers save these files. */
    const keepAttachments = () => {
        const { set } = Headers.prototype;
        Headers.prototype.set = function (name, value) {
            const isReplaced = value === "inline" && name === "content-disposition" && isAttachment(this);
            if (!isReplaced) set.call(this, name, value);
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
            } else if (!isForServer(request, url) && isWantedHere(request)) {
                event.respondWith(resolve(event, url));
            }
        });
        self.addEventListener("message", ({ data, source }) => data?.msg_type === "ping" && source.postMessage(data));
        importScripts("/engine.js");
    };

    /** Removes a worker of another version, or one that an archived script registered. */
    const retire = () => {
        self.addEventListener("install", () => self.skipWaiting());
        self.addEventListener("activate", (event) => event.waitUntil(self.registration.unregister()));
    };

    const isWanted = location.pathname + location.search === address
        && self.registration?.scope === `${location.origin}/`;
    if (isWanted) guardEngine();
    else retire();
}
