// The service worker of a replay origin: the replay engine, with enforced security headers.
//
// Archived scripts run at this origin too, and can change the engine's settings. So this file sets the security headers of
// every readable response and doesn't rely on the engine's.
"use strict";
{
    // The URL of this version's worker, the header fields for every response, the referrers of the viewer, the archived
    // header fields to keep, and the script in each page.
    const { address, fields, viewers, kept, pageScript } = {{worker}};

    // Paths of the server, including the engine's own /api/, which replayhost doesn't use.
    const ofServer = /^\/(?:$|clear$|mark$|print$|sw\.js$|engine\.js$|static\/proxy\/page\.js$|(?:api|archives|c)\/)/;

    /**
     * Whether a response keeps an archived header field. Others can make a browser load something (Link, Refresh), send
     * reports or change its security. The server has the same lists (`CaptureFields.swift`), and inserts them here.
     */
    const isKept = (name, isForScript) => kept.documents.includes(name) || isForScript && (kept.scripts.includes(name)
        || name.startsWith(kept.ownPrefix) && !kept.notOwn.some((start) => name.startsWith(start)));

    // Types that browsers show in a frame. They save others as a file, without an event.
    const displayable = /^(?:text\/(?:html|plain|css|javascript|xml|xsl)|application\/(?:pdf|javascript|json|xml|[^;]+\+(?:xml|json))|image\/(?:png|jpeg|gif|webp|avif|svg\+xml|bmp|x-icon|vnd\.microsoft\.icon)|(?:audio|video)\/(?:mp4|mpeg|mp3|ogg|webm|wav|x-wav|aac|flac))\s*(?:;|$)/i;

    /** Sends a message to the agent's page, which can still be loading when a page does. */
    const tellAgent = async (message, tries = 40) => {
        const clients = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
        const agents = clients.filter(({ url }) => new URL(url).pathname === "/");
        for (const agent of agents) agent.postMessage(message);
        if (agents.length === 0 && tries > 1) setTimeout(tellAgent, 250, message, tries - 1);
    };

    /** Tells the agent's page about a document that may never arrive. */
    const reportFile = ({ headers, status, type }, url) => {
        const isDocument = ![204, 205].includes(status) && type !== "error"
            && !isToSave(headers, url) && (headers.has("location") || displayable.test(headers.get("content-type") ?? ""));
        if (!isDocument) tellAgent({ replayhost: "file", url });
    };

    /** Tells the agent's page that a request got the captured answer to other data. */
    const reportSimilar = ({ mode, url }) => tellAgent({ replayhost: "similar", isDocument: mode === "navigate", url: replayed(url)?.url ?? "" });

    const isAttachment = (headers) => /^\s*attachment/i.test(headers.get("content-disposition") ?? "");

    // Scoop adds pages such as `file:///dom-snapshot.html` as attachments, which should be shown.
    const isToSave = (headers, url) => isAttachment(headers) && !/^file:/i.test(replayed(url)?.url ?? "");

    /**
     * Returns a `Refresh` field that leads to the same page in the archive; `null` if the field only reloads the page.
     * HTML standard, "shared declarative refresh steps".
     */
    const refresh = (field, address) => {
        const [, seconds, ...urls] = /^\s*(\d*)[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.+))/is.exec(field) ?? [];
        const page = replayed(address);
        const text = urls.find((each) => each !== undefined);
        if (!page || !text || !URL.canParse(text, page.url)) return null;
        const target = new URL(text, page.url);
        return /^https?:$/.test(target.protocol) ? `${seconds || 0}; url=${page.start}${target.href}` : null;
    };

    const guarded = (original, request) => {
        const { destination, mode, url } = request;
        if (mode === "navigate") reportFile(original, url);
        // Network errors and the server's redirects have no readable content.
        if (original.type === "error" || original.type === "opaqueredirect") return original;
        const { body, status, statusText } = original;
        if (original.headers.has("x-replayhost-similar")) reportSimilar(request);
        const target = original.headers.get("location");
        if (target !== null && new URL(target, url).origin !== location.origin) return Response.error();
        const isForScript = destination === "" && mode !== "navigate";
        const headers = new Headers();
        for (const [name, value] of original.headers) {
            if (isKept(name, isForScript)) headers.append(name, value);
        }
        // Browsers act on `Link`. So it gets another name, under which page.js finds it. By lookups, it already has one.
        const link = isForScript ? original.headers.get("x-archive-orig-link") ?? original.headers.get("link") : null;
        if (link !== null) headers.set("x-replayhost-link", link);
        if (isAttachment(headers) && !isToSave(headers, url)) headers.delete("content-disposition");
        const field = original.headers.get("refresh") ?? original.headers.get("x-archive-orig-refresh");
        const next = mode === "navigate" && field ? refresh(field, url) : null;
        if (next) headers.set("refresh", next);
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
        if (target && request.mode === "navigate" && endQuote.test(target.url) && !await capturesOf(target)) {
            return Response.redirect(request.url.replace(endQuote, ""), 307);
        }
        // The engine takes the scheme of a URL that has none from the referrer.
        if (page) Object.defineProperty(request, "referrer", { value: address });
        if (media.includes(request.destination)) keepBytes(request);
        if (target) await correctLookups(target);
        const response = await endLoop(request, await self.sw.handleFetch(event));
        if (response.status === 304) return missing();
        return documents.includes(request.destination) ? rewriteXML(response, target) : response;
    };

    // The engine keeps the closing quote of the URL in `<meta http-equiv=refresh content="0; url='/next'">`.
    const endQuote = /(?:["']|%2[27])$/;

    /** Returns the first line of the index for a URL, in the format CDXJ; empty if there is none. */
    const capturesOf = async ({ start, url }, query = "") => {
        const list = `/c/${start.split("/")[1]}/cdx?url=${encodeURIComponent(url)}&limit=1${query}`;
        const answer = await fetch(list).catch(() => null);
        return answer?.ok ? answer.text() : "";
    };

    // Browsers recognize these by their bytes, whatever their type is.
    const media = ["audio", "font", "image", "video"];

    /** Keeps the engine from rewriting an image or other media with the type of a page, as it does for `XMLHttpRequest`. */
    const keepBytes = (request) => {
        const headers = new Headers(request.headers);
        headers.set("X-Pywb-Requested-With", "XMLHttpRequest");
        Object.defineProperty(request, "headers", { value: headers });
    };

    /**
     * By ranges, makes the engine use the newest state before a captured 304, for which it would show nothing, and the answer
     * to other data only if it's the only one. The server does the same.
     */
    const correctLookups = async ({ start }) => {
        const { store } = await self.sw.collections.getColl(start.split("/")[1]) ?? {};
        if (!store?.lookupUrl || Object.hasOwn(store, "lookupUrl")) return;
        const { getResource, lookupUrl, lookupQueryPrefix } = store;
        const similar = new Set();
        store.getResource = async function (request, ...others) {
            const found = await getResource.call(this, request, ...others);
            // The engine's request has another mode, if it sends data.
            if (similar.delete(request.url)) reportSimilar(request.request);
            return found;
        };
        store.lookupQueryPrefix = async function (url, ...others) {
            const found = await lookupQueryPrefix.call(this, url, ...others);
            const method = methodIn(url);
            // The engine has a rule for these.
            if (!found || !method || /\/youtubei\/v1\//.test(url)) return found;
            const path = url.replace(/\?.*/s, "?");
            const { store: resources } = this.db.transaction("resources", "readonly");
            for await (const { value } of resources.iterate(IDBKeyRange.bound([path], [`${path}\uffff`]))) {
                if (methodIn(value.url) === method && value.url !== found.url) return null;
            }
            if (methodIn(found.url) !== method) return null;
            similar.add(url);
            return found;
        };
        store.lookupUrl = async function (url, ...others) {
            const found = await lookupUrl.call(this, url, ...others);
            if (found?.status !== 304) return found;
            const { store: resources } = this.db.transaction("resources", "readonly");
            const before = IDBKeyRange.bound([found.url], [found.url, found.ts], false, true);
            for await (const { value } of resources.iterate(before, "prev")) {
                if (value.status !== 304) return value;
            }
            return found;
        };
    };

    /** Returns the method of a request with data, as indexes name it in a URL; empty for others. */
    const methodIn = (url) => /[?&]__wb_method=([^&]*)/i.exec(url)?.[1].toUpperCase() ?? "";

    // The URLs of each chain of redirects, by the URL to which the last one leads.
    const chains = new Map();
    const chainsMax = 100;

    /**
     * Ends a redirect that leads back to itself, as a browser does that keeps the cookie of the first one: at the capture of the
     * URL that isn't a redirect and is closest in time.
     */
    const endLoop = async ({ url, mode }, response) => {
        if (mode !== "navigate") return response;
        const [address] = url.split("#");
        const urls = chains.get(address) ?? new Set();
        chains.delete(address);
        const target = response.headers.get("location");
        if (target === null || response.status < 300 || response.status > 399) return response;
        const page = replayed(address);
        const [, start, time] = /^(.*\/)(\d*)[a-z]+_\/$/s.exec(page?.start ?? "") ?? [];
        if (start && urls.has(address)) {
            const query = `&filter=!~status:3..${time && `&closest=${time}&sort=closest`}`;
            const [, timestamp] = (await capturesOf(page, query)).split(" ");
            if (timestamp) return Response.redirect(`${start}${timestamp}mp_/${page.url}`, 307);
        }
        if (chains.size >= chainsMax) chains.clear();
        chains.set(new URL(target, address).href.split("#")[0], urls.add(address));
        return response;
    };

    /** The server's answer by lookups. The viewer recognizes it by its title. */
    const missing = () => new Response("<!doctype html><title>Not in this archive</title>",
        { status: 404, headers: { "content-type": "text/html; charset=utf-8" } });

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

    // Character encodings. `EncodingDetector.swift` has the same rules, and explains them.

    // Browsers show one letter in place of a document in these, since scripts could hide in them.
    const undecoded = ["csiso2022kr", "hz-gb-2312", "iso-2022-cn", "iso-2022-cn-ext", "iso-2022-kr", "replacement"];

    /** Returns the encoding with a label; empty if browsers don't know it. */
    const encodingOf = (label) => {
        try {
            return new TextDecoder(label).encoding;
        } catch {
            return undecoded.includes(label.trim().toLowerCase()) ? "replacement" : "";
        }
    };

    /** Returns the encoding that a declaration means, if it can be read as ASCII. */
    const encodingInASCII = (label) => {
        const encoding = encodingOf(label);
        return { "utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252" }[encoding] ?? encoding;
    };

    /** Returns the first `charset` parameter of a media type. Some servers left out the semicolon. */
    const charsetOf = (type) => {
        const parameters = type.replace(/^[ \t]*[^ \t;,]*/, "");
        for (const [, name, quoted, plain] of parameters.matchAll(/[ \t;]*([^=;]+)(?:=[ \t]*(?:"([^"]*)"?[^;]*|([^;]*)))?/g)) {
            if (name.toLowerCase() === "charset") return quoted ?? plain ?? "";
        }
        return "";
    };

    const encodingOfMark = ([first, second, third]) => first === 0xEF && second === 0xBB && third === 0xBF ? "utf-8"
        : first === 0xFF && second === 0xFE ? "utf-16le" : first === 0xFE && second === 0xFF ? "utf-16be" : "";

    const encodingOfXML = (text) => {
        const [declaration] = /^<\?xml[^>]*/.exec(text) ?? [""];
        const match = /encoding[\x00- ]*=[\x00- ]*(?:"([^"]*)"|'([^']*)')/.exec(declaration);
        return match ? encodingInASCII(match[1] ?? match[2]) : "";
    };

    // A comment or a declaration, or the start of a tag.
    const markup = /<(?:!--(?:-?>|[^]*?(?:--!?>|$))|[!?][^>]*>?|\/(?![a-z])[^>]*>?|(\/?)([a-z][^\t\n\f\r />]*))/gi;
    const betweenAttributes = /[\t\n\f\r /]*/y;
    const attribute = /([^\t\n\f\r />][^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)(?:"|$)|'([^']*)(?:'|$)|([^\t\n\f\r >]*)))?/y;
    const endsOfRawText = Object.fromEntries(
        ["iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "textarea", "title", "xmp"]
            .map((name) => [name, new RegExp(`</${name}(?=[\\t\\n\\f\\r />])|$`, "gi")]));

    /** Calls a sticky or global expression at a place; returns the match, and where it ends. */
    const matchAt = (expression, text, at) => {
        expression.lastIndex = at;
        const match = expression.exec(text);
        return { match, end: match ? expression.lastIndex : at };
    };

    /** Returns the attributes of a tag, and where it ends; `null` if the text ends first. */
    const readAttributes = (text, at) => {
        const attributes = new Map();
        for (;;) {
            at = matchAt(betweenAttributes, text, at).end;
            if (text[at] === ">") return { attributes, end: at + 1 };
            const { match, end } = matchAt(attribute, text, at);
            if (!match) return null;
            const name = match[1].toLowerCase();
            if (!attributes.has(name)) attributes.set(name, match[2] ?? match[3] ?? match[4] ?? "");
            at = end;
        }
    };

    const encodingOfMeta = (attributes) => {
        const encoding = encodingInASCII(attributes.get("charset") ?? "");
        if (encoding || attributes.get("http-equiv")?.toLowerCase() !== "content-type") return encoding;
        const match = /charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^"'\t\n\f\r ;][^\t\n\f\r ;]*))/i
            .exec(attributes.get("content") ?? "");
        return match ? encodingInASCII(match[1] ?? match[2] ?? match[3]) : "";
    };

    const bytesOfDeclaration = 1024;
    const bytesOfHeadMax = 1 << 20;
    const inHead = ["html", "head", "base", "basefont", "bgsound", "link", "meta", "noframes", "noscript", "script", "style",
        "title"];
    const afterHead = ["head", "body", "html", "br"];

    /** Returns the encoding that a `meta` element declares: in the first 1024 bytes, then up to the end of the head. */
    const encodingOfHTML = (text) => {
        let isInHead = true;
        for (let at = 0;;) {
            const { match, end } = matchAt(markup, text, at);
            if (!match) return "";
            if (/[^\t\n\f\r ]/.test(text.slice(at, match.index))) isInHead = false;
            if (match.index >= bytesOfDeclaration && !isInHead) return "";
            at = end;
            if (match[2] === undefined) continue;
            const name = match[2].toLowerCase();
            const tag = readAttributes(text, at);
            if (!tag) return "";
            at = tag.end;
            const encoding = !match[1] && name === "meta" ? encodingOfMeta(tag.attributes) : "";
            if (encoding) return encoding;
            if (match[1] ? afterHead.includes(name) : !inHead.includes(name)) isInHead = false;
            if (!match[1] && Object.hasOwn(endsOfRawText, name)) at = matchAt(endsOfRawText[name], text, at).match.index;
        }
    };

    /**
     * Returns the encoding of an HTML document that is certain.
     *
     * @param {string} type the `Content-Type`
     * @param {string} identified the media type that the crawler found
     * @returns {string} empty if nothing declares it
     */
    const declaredEncoding = (bytes, type, identified) => {
        const first = encodingOfMark(bytes) || encodingOf(charsetOf(type));
        if (first) return first;
        const text = asLatin(bytes.subarray(0, bytesOfHeadMax));
        if (text.startsWith("<\0?\0x\0")) return "utf-16le";
        if (text.startsWith("\0<\0?\0x")) return "utf-16be";
        return encodingOfHTML(text) || encodingOfXML(text.slice(0, bytesOfDeclaration)) || encodingOf(charsetOf(identified));
    };

    const html = /^[ \t]*text\/html(?=[ \t;,]|$)[ \t;]*/i;
    // The engine reads bytes of others than UTF-8 as Latin 1. Markup of these would be damaged.
    const converted = ["utf-8", "iso-2022-jp", "utf-16le", "utf-16be"];
    // From such an element on, the engine converts a document to UTF-8 once more. With `utf_8`, it doesn't.
    const claimsOfUTF8 = /<meta[^<>]*[\s"'/]charset\s*=\s*["']?utf-?8/gi;
    const asLatin = (bytes) => new TextDecoder("windows-1252").decode(bytes);

    /**
     * Names the encoding of an archived HTML document, which the engine can lose: it removes byte order marks, inserts
     * scripts before `meta` elements, and replaces `Content-Type` by what the crawler found.
     */
    const nameEncoding = (archived, { destination, mode }) => {
        const type = archived.headers.get("content-type") ?? "";
        const identified = archived.extraOpts?.detectedCT ?? archived.headers.get("x-archive-identified-type") ?? "";
        if (type && archived.extraOpts) delete archived.extraOpts.detectedCT;
        // Scripts and media get the bytes as they are.
        if (!html.test(type) || mode === "cors" || media.includes(destination)) return;
        // With the semicolon, the engine doesn't look for a declaration itself, which it also finds in comments and scripts.
        archived.headers.set("content-type", `text/html; ${type.replace(html, "")}`);
        const { getText } = archived;
        archived.getText = async function (isUTF8, isHTML) {
            const bytes = isHTML && await this.getBuffer();
            if (!(bytes instanceof Uint8Array)) return getText.call(this, isUTF8, isHTML);
            const encoding = declaredEncoding(bytes, type, identified);
            if (encoding === "utf-8" && isUTF8) return getText.call(this, isUTF8, isHTML);
            const isConverted = converted.includes(encoding);
            const named = isConverted ? "utf-8" : encoding;
            this.headers.set("content-type", named ? `text/html; charset=${named}` : type);
            // What follows a mark, the engine keeps in UTF-8.
            if (isConverted) return { bomFound: true, text: new TextDecoder(encoding).decode(bytes) };
            for (const { 0: claim, index } of asLatin(bytes).matchAll(claimsOfUTF8)) bytes[index + claim.length - 2] = 0x5F;
            return getText.call(this, isUTF8, isHTML);
        };
    };

    /** Another build of the engine may have no such functions. Then it replays without this. */
    const nameEncodings = () => {
        const { collections } = self.sw ?? {};
        const { getColl } = collections ?? {};
        if (!getColl) return;
        collections.getColl = async function (name) {
            const collection = await getColl.call(this, name);
            const { getReplayResponse } = collection ?? {};
            if (!getReplayResponse || Object.hasOwn(collection, "getReplayResponse")) return collection;
            collection.getReplayResponse = async function (request, event) {
                const archived = await getReplayResponse.call(this, request, event);
                noteAnswer(event, request, archived, this.store?.archivePrefix !== undefined);
                // Redirects are responses already.
                if (archived && !(archived instanceof Response)) nameEncoding(archived, request);
                return archived;
            };
            return collection;
        };
    };

    {{replay/requests.js}}

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
            } else if (url.pathname === pageScript.path && request.destination === "script") {
                event.respondWith(new Response(pageScript.text, { headers: { "content-type": "text/javascript; charset=utf-8" } }));
            } else if (!isForServer(request, url) && isWantedHere(request)) {
                event.respondWith(reported(event, resolve(event, url)));
            }
        });
        self.addEventListener("message", ({ data, source }) => data?.msg_type === "ping" && source.postMessage(data));
        importScripts("/engine.js");
        nameEncodings();
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
