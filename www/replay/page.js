// Runs in every archived page, after the engine's script. It does what a page in a sandboxed frame can't do by itself:
// open links in other frames, save files, print, answer dialogs, and keep cookies. It also reports navigation, links to
// other programs, and the viewer's keys to the viewer.
//
// Archived scripts can change all of this, so the viewer doesn't trust these messages.
"use strict";
(() => {
    const viewer = window.top;
    const charactersMax = 1000;
    const foldersMax = 40;
    const report = (kind, text = "") => {
        viewer.postMessage({ replayhost: "page", kind, text: String(text).slice(0, charactersMax) }, "*");
    };

    // The page wasn't opened from the viewer when it was captured.
    if (/^http:\/\/(?:replayhost\.)?localhost(?::\d+)?\/$/.test(document.referrer)) {
        Object.defineProperty(document, "referrer", { configurable: true, enumerable: true, get: () => "" });
    }

    const documentOf = (target) => {
        try {
            return target.document;
        } catch {
            return null;
        }
    };

    // Objects. The policy blocks them, since browsers request them past the worker. So the browser shows what is in the element,
    // where a frame or an image with the same URL is added, if that was captured.
    const parts = new WeakMap();
    const request = window.fetch;
    const sizes = ["width", "height"];

    async function showInside(object) {
        const url = object.data;
        if (!url || parts.has(object) || !/^https?:/.test(url)) return;
        // Also while it is being looked up.
        parts.set(object, null);
        const answer = await request.call(window, url).catch(() => null);
        const type = answer?.ok ? (answer.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase() : "";
        answer?.body?.cancel();
        const isImage = /^image\/(?!svg\+xml)/.test(type);
        if (!isImage && !/^text\/|\+xml$|^application\/(?:json|xml)$/.test(type)) return;
        const part = document.createElement(isImage ? "img" : "iframe");
        const style = getComputedStyle(object);
        for (const name of sizes) {
            if (object.hasAttribute(name)) part.setAttribute(name, object.getAttribute(name));
            if (style[name] !== "auto") part.style[name] = style[name];
        }
        part.style.border = "0";
        part.src = url;
        parts.set(object, part);
        object.replaceChildren(part);
    }

    const own = (name) => Object.getOwnPropertyDescriptor(HTMLObjectElement.prototype, name);
    for (const name of ["contentDocument", "contentWindow"]) {
        const { get } = own(name);
        Object.defineProperty(HTMLObjectElement.prototype, name, { ...own(name), get() {
            return parts.get(this)?.[name] ?? get.call(this);
        } });
    }
    const { value: getSVGDocument } = own("getSVGDocument");
    HTMLObjectElement.prototype.getSVGDocument = function () {
        return parts.get(this)?.contentDocument ?? getSVGDocument.call(this);
    };
    window.addEventListener("error", ({ target }) => {
        if (target instanceof HTMLObjectElement) showInside(target);
    }, true);
    document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("object[data]").forEach(showInside));

    // Frames ---------------------------------------------------------------------------------------------------------

    let archiveTop = window;
    while (archiveTop.parent !== viewer && archiveTop.parent !== archiveTop) archiveTop = archiveTop.parent;

    /** Yields all frames in a document, including those with an unreadable document. */
    function* framesBelow(target) {
        for (const element of documentOf(target)?.querySelectorAll("iframe, frame") ?? []) {
            const inner = element.contentWindow;
            if (!inner) continue;
            let name = element.name;
            try {
                name = inner.name;
            } catch {
                // The name of another origin's document can't be read.
            }
            yield { window: inner, element, name };
            yield* framesBelow(inner);
        }
    }

    const find = (below, name) => [...framesBelow(below)].find((frame) => frame.name === name);

    /**
     * Returns the target frame of a link if the browser doesn't let this page navigate it. A sandboxed page can navigate
     * only itself and the frames in it. An unknown name would open a window; its page replaces the whole archived page.
     */
    function refusedTarget(target) {
        const name = target || document.querySelector("base[target]")?.getAttribute("target") || "_self";
        const keyword = name.toLowerCase();
        if (keyword === "_self") return null;
        if (keyword === "_parent") return window === archiveTop ? null : { window: window.parent };
        if (["_top", "_blank"].includes(keyword) || name === archiveTop.name) {
            return window === archiveTop && name === archiveTop.name ? null : { window: archiveTop };
        }
        if (name === window.name || find(window, name)) return null;
        return find(archiveTop, name) ?? { window: archiveTop };
    }

    /** The URL as the engine serves it. */
    const replayed = (url) => window._wb_wombat?.rewrite_url?.(url) ?? url;

    /** Clicks a link in the target's own document, which the browser allows. */
    function navigate({ window: target, element }, url) {
        const page = documentOf(target);
        if (page) {
            const link = page.createElementNS("http://www.w3.org/1999/xhtml", "a");
            link.setAttribute("href", replayed(url));
            link.setAttribute("target", "_self");
            target.HTMLElement.prototype.click.call(link);
        } else if (element) {
            element.src = replayed(url);
        }
    }

    function send(form, submitter, target) {
        const page = documentOf(target.window);
        if (!page) return;
        const copy = page.createElement("form");
        const value = (name) => submitter?.getAttribute(`form${name}`) ?? form.getAttribute(name) ?? "";
        copy.setAttribute("method", value("method"));
        copy.setAttribute("enctype", value("enctype"));
        copy.setAttribute("action", replayed(new URL(value("action"), document.baseURI).href));
        copy.setAttribute("target", "_self");
        for (const [name, text] of new FormData(form, submitter)) {
            if (typeof text !== "string") continue;
            const field = page.createElement("input");
            field.type = "hidden";
            field.name = name;
            field.value = text;
            copy.append(field);
        }
        page.documentElement.append(copy);
        target.window.HTMLFormElement.prototype.submit.call(copy);
        copy.remove();
    }

    // Files to save --------------------------------------------------------------------------------------------------

    /** Returns the server's URL of a replayed file, which sets the file name; other URLs don't change. */
    function fileURL(url) {
        const match = /^\/([a-z0-9-]+)-[0-9a-f]{12}\/(?::[\w-]+\/)?(\d*)[a-z]*_?\/(.+)$/s
            .exec(url.startsWith(`${location.origin}/`) ? url.slice(location.origin.length) : "");
        return match ? `${location.origin}/c/${match[1]}/${match[2] || "9999"}id_/${match[3]}` : url;
    }

    // The engine renames the attribute of links in the page's source.
    const fileName = (link) => link.getAttribute("download") ?? link.getAttribute("_download");

    /** Makes the browser save the link's file. It bypasses the service worker, so the URL must be the server's. */
    function saveWhenFollowed(link) {
        const url = new URL(link.href, document.baseURI).href;
        const before = ["href", "target", "download"].map((name) => [name, link.getAttribute(name)]);
        // The engine's script leaves an element with this property alone.
        link._no_rewrite = true;
        link.setAttribute("href", fileURL(replayed(url)));
        link.setAttribute("download", fileName(link));
        link.setAttribute("target", "_self");
        link._no_rewrite = false;
        setTimeout(() => {
            for (const [name, value] of before) {
                if (value === null) link.removeAttribute(name);
                else link.setAttribute(name, value);
            }
        });
    }

    // Steps of the browser's history ---------------------------------------------------------------------------------

    const { location } = window;
    const replaceLocation = location.replace.bind(location);

    const ownSchemes = new Set(["http", "https", "javascript", "data", "blob", "about", "file", "ftp", "urn"]);

    /** Whether another program opens this scheme. In the frame, the browser would show an error. */
    const isExternal = (protocol = "") => protocol !== "" && !ownSchemes.has(protocol.slice(0, -1));

    /** Replaces this page. The viewer adds the history entry, since a frame's own entries are lost on reload. */
    function step(url) {
        report("step");
        replaceLocation(url);
    }

    // A sandboxed page can't move the browser's history when the viewer's entries change with it. The viewer's process can learn of entries
    // that the page has just added only after this.
    const { go } = History.prototype;
    const move = (steps) => report("history", `${steps} ${history.length}`);
    History.prototype.go = function (count = 0) {
        const steps = Math.trunc(Number(count)) || 0;
        if (steps === 0) go.call(this, 0);
        else move(steps);
    };
    History.prototype.back = () => move(-1);
    History.prototype.forward = () => move(1);

    if (window === archiveTop) {
        window.navigation?.addEventListener("navigate", (event) => {
            const { navigationType, destination, hashChange, cancelable } = event;
            if (navigationType !== "push" || !cancelable || event.formData || event.downloadRequest !== null) return;
            // Entries of `history.pushState` can't be replaced.
            if (destination.sameDocument && !hashChange) return;
            event.preventDefault();
            if (isExternal(new URL(destination.url).protocol)) report("link", destination.url);
            else step(destination.url);
        });
    }

    /** For browsers without the Navigation API: whether a link opens another page or fragment in this frame. */
    const isStep = (link) => typeof link.href === "string" && /^https?:$/.test(link.protocol) && fileName(link) === null;

    /** Follows the link in the last listener, unless an earlier one prevented it. */
    function stepWhenFollowed(link) {
        const follow = (event) => {
            if (event.defaultPrevented) return;
            event.preventDefault();
            step(replayed(new URL(link.href, document.baseURI).href));
        };
        window.addEventListener("click", follow);
        setTimeout(() => window.removeEventListener("click", follow));
    }

    // Links and forms ------------------------------------------------------------------------------------------------

    /** Returns what to do instead of the browser's own action for a link, if anything. */
    function actionOf(link) {
        const url = new URL(link.href?.baseVal ?? link.href, document.baseURI);
        if (fileName(link) !== null && typeof link.href === "string") saveWhenFollowed(link);
        if (fileName(link) !== null || !/^https?:$/.test(url.protocol)) return null;
        const target = refusedTarget(link.getAttribute("target"));
        return target && (() => navigate(target, url.href));
    }

    /** Acts after all listeners, since page scripts may cancel the event. */
    const afterwards = (event, act) => setTimeout(() => {
        if (!event.defaultPrevented) act();
    });

    const { click } = HTMLElement.prototype;
    const { submit } = HTMLFormElement.prototype;
    const isLink = (node) => (node.localName === "a" || node.localName === "area") && Boolean(node.href);
    window.addEventListener("click", (event) => {
        const link = event.composedPath().find(isLink);
        if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        if (isExternal(link.protocol)) {
            event.preventDefault();
            report("link", link.href);
            return;
        }
        const act = actionOf(link);
        if (act) afterwards(event, act);
        else if (!window.navigation && window === archiveTop && isStep(link)) stepWhenFollowed(link);
    }, true);
    HTMLElement.prototype.click = function () {
        const act = isLink(this) && !this.isConnected ? actionOf(this) : null;
        if (act) act();
        else click.call(this);
    };
    window.addEventListener("submit", (event) => {
        const { target: form, submitter } = event;
        const target = refusedTarget(submitter?.getAttribute("formtarget") ?? form.getAttribute("target"));
        if (target) afterwards(event, () => send(form, submitter, target));
    }, true);
    HTMLFormElement.prototype.submit = function () {
        const target = refusedTarget(this.getAttribute("target"));
        if (target) send(this, null, target);
        else submit.call(this);
    };
    const { open } = window;
    window.open = function (url, name, ...others) {
        const target = url ? refusedTarget(name || "_blank") : null;
        if (!target) return open.call(this, url, name, ...others);
        navigate(target, new URL(url, document.baseURI).href);
        return target.window;
    };

    /**
     * Deletes cookies that a page of another archive set for all of `replayhost.localhost`. Those of this archive stay: they have
     * another domain. A page can't see where a cookie is from, so this tries all paths that this page's URL is in.
     */
    function deleteSharedCookies() {
        const domain = "replayhost.localhost";
        const { get, set } = Object.getOwnPropertyDescriptor(Document.prototype, "cookie");
        const names = new Set(get.call(document).split("; ").filter(Boolean)
            .map((cookie) => (cookie.includes("=") ? cookie.split("=", 1)[0] : "")));
        if (names.size === 0 || !location.hostname.endsWith(`.${domain}`)) return;
        const folders = location.pathname.split("/").slice(0, foldersMax).map((_, index, all) => all.slice(0, index + 1).join("/"));
        const paths = new Set([...folders.flatMap((folder) => [folder, `${folder}/`]).filter(Boolean), location.pathname]);
        for (const name of names) {
            for (const path of paths) {
                for (const kind of ["", "; secure", "; secure; partitioned"]) {
                    set.call(document, `${name}=0; domain=${domain}; path=${path}; max-age=0${kind}`);
                }
            }
        }
    }
    deleteSharedCookies();

    // Cookies. WebKit stores none for a frame of another site. There, a page's cookies last until it's left.
    function keepCookies() {
        const cookies = new Map();
        const keep = (text) => {
            const [cookie, ...attributes] = String(text).split(";").map((part) => part.trim());
            const [name] = cookie.split("=", 1);
            const isExpired = attributes.some((attribute) => /^max-age=(?:-|0+$)/i.test(attribute)
                || /^expires=/i.test(attribute) && Date.parse(attribute.slice("expires=".length)) < Date.now());
            if (isExpired) cookies.delete(name);
            else if (cookie) cookies.set(name, cookie);
        };
        Object.defineProperty(document, "cookie", {
            configurable: true, enumerable: true, get: () => [...cookies.values()].join("; "), set: keep,
        });
        for (const cookie of window.wbinfo?.presetCookie?.split(";") ?? []) keep(cookie);
    }
    document.cookie = "___replayhost=1";
    if (document.cookie.includes("___replayhost=1")) document.cookie = "___replayhost=; max-age=0";
    else keepCookies();

    // The focus. What is typed into the viewer isn't for the page. So a page without the focus takes it when the user gives it.
    const hasFocus = () => (documentOf(archiveTop) ?? document).hasFocus();
    let takeFocus = null;
    const forgetFocus = () => {
        takeFocus = null;
    };
    for (const { prototype } of [window.HTMLElement, window.SVGElement, window.MathMLElement].filter(Boolean)) {
        const { focus } = prototype;
        prototype.focus = function (...options) {
            forgetFocus();
            if (hasFocus()) focus.apply(this, options);
            else takeFocus = () => focus.apply(this, options);
        };
    }
    const { focus: focusWindow } = window;
    window.focus = () => {
        if (hasFocus()) focusWindow.call(window);
    };
    // Where the user clicks, the focus stays.
    archiveTop.addEventListener("pointerdown", forgetFocus, true);
    archiveTop.addEventListener("focus", () => {
        takeFocus?.();
        forgetFocus();
    });

    // `Link` fields of responses have another name (sw.js), since browsers would act on them.
    const linkField = "x-replayhost-link";
    const { get, has, entries } = Headers.prototype;
    const nameIn = (headers, name) => (String(name).toLowerCase() === "link" && has.call(headers, linkField) ? linkField : name);
    function* fieldsOf(headers) {
        for (const [name, value] of entries.call(headers)) yield [name === linkField ? "link" : name, value];
    }
    Object.assign(Headers.prototype, {
        get(name) {
            return get.call(this, nameIn(this, name));
        },
        has(name) {
            return has.call(this, nameIn(this, name));
        },
        entries() {
            return fieldsOf(this);
        },
        * keys() {
            for (const [name] of fieldsOf(this)) yield name;
        },
        [Symbol.iterator]() {
            return fieldsOf(this);
        },
        forEach(act, receiver) {
            for (const [name, value] of fieldsOf(this)) act.call(receiver, value, name, this);
        },
    });
    const { getResponseHeader, getAllResponseHeaders } = XMLHttpRequest.prototype;
    XMLHttpRequest.prototype.getResponseHeader = function (name) {
        const link = String(name).toLowerCase() === "link" ? getResponseHeader.call(this, linkField) : null;
        return link ?? getResponseHeader.call(this, name);
    };
    XMLHttpRequest.prototype.getAllResponseHeaders = function () {
        return getAllResponseHeaders.call(this).replace(`${linkField}:`, "link:");
    };

    // Dialogs. None is shown, since a page could block the whole viewer with them (docs/safety.md).
    window.alert = (text = "") => report("alert", text);
    window.confirm = (text = "") => {
        report("confirm", text);
        return true;
    };
    window.prompt = (text = "", answer = undefined) => {
        report("prompt", text);
        return answer === undefined ? null : String(answer);
    };
    window.print = () => report("print");
    window.addEventListener("keydown", (event) => {
        if (event.key === "F6" && event.isTrusted && !event.ctrlKey && !event.altKey && !event.metaKey) {
            event.preventDefault();
            report(event.shiftKey ? "words" : "toolbar");
        }
        const capture = { PageUp: "earlier", PageDown: "later" }[event.key];
        if (capture && event.altKey && event.isTrusted && !event.ctrlKey && !event.shiftKey && !event.metaKey) {
            event.preventDefault();
            report(capture);
        }
        const isPrint = event.key.toLowerCase() === "p" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
        if (!isPrint || !event.isTrusted) return;
        event.preventDefault();
        report("print");
    }, true);
    // The page's own listeners come first.
    window.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && event.isTrusted && !event.defaultPrevented && !event.isComposing) report("escape");
    });
})();
