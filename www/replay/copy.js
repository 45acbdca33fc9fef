/**
 * Copies an archived page in its current state, for printing. The copy is one text of HTML without scripts, which contains
 * the style sheets, images and inner frames, since the frame that prints it can't load anything.
 */
const resourcesSecondsMax = 10;
const resourcesBytesMax = 64 * 1024 * 1024;

// The engine's script replaces the getters in the archived page.
const native = (type, name) => {
    const { get } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (object) => get.call(object);
};
const baseOf = native(Node, "baseURI");
const imageOf = native(HTMLImageElement, "currentSrc");
const sheetURL = native(StyleSheet, "href");
const innerDocument = {
    iframe: native(HTMLIFrameElement, "contentDocument"), frame: native(HTMLFrameElement, "contentDocument"),
};

/** Reads images and fonts as `data:` URLs, until there are too many. */
function createResources() {
    const known = new Map();
    const end = new AbortController();
    setTimeout(() => end.abort(), resourcesSecondsMax * 1000);
    let size = 0;

    async function read(url) {
        const response = await fetch(url, { signal: end.signal });
        const content = await response.blob();
        size += content.size;
        if (size > resourcesBytesMax) end.abort();
        if (!response.ok || end.signal.aborted) return "";
        const reader = new FileReader();
        await new Promise((done) => {
            reader.addEventListener("loadend", done);
            reader.readAsDataURL(content);
        });
        return reader.result ?? "";
    }

    /** @returns {Promise<string>} empty if it can't be read */
    return (text, base) => {
        if (/^(data:|#)/i.test(text)) return Promise.resolve(text);
        const url = text && URL.canParse(text, base) ? new URL(text, base).href : "";
        if (!known.has(url)) known.set(url, url ? read(url).catch(() => "") : Promise.resolve(""));
        return known.get(url);
    };
}

/** Returns a style sheet's text with all that it loads. */
async function completeStyle(text, base, resource) {
    const pattern = /url\(\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^"')]*))\s*\)/g;
    const urls = [...text.matchAll(pattern)].map(([, double, single, plain]) =>
        (double ?? single ?? plain).trim().replace(/\\([0-9a-f]{1,6})\s?/gi, (_, code) => String.fromCodePoint(parseInt(code, 16)))
            .replace(/\\(.)/g, "$1"));
    const contents = await Promise.all(urls.map((url) => resource(url, base)));
    return text.replace(pattern, () => `url("${contents.shift()}")`);
}

async function rulesOf(sheet, base, resource) {
    const from = sheetURL(sheet) ?? base;
    const texts = [...sheet.cssRules].map(async (rule) => {
        if (rule.type !== CSSRule.IMPORT_RULE) return completeStyle(rule.cssText, from, resource);
        if (!rule.styleSheet) return "";
        const text = await rulesOf(rule.styleSheet, from, resource);
        const layered = rule.layerName === null || rule.layerName === undefined ? text : `@layer ${rule.layerName} {${text}}`;
        return rule.media.mediaText ? `@media ${rule.media.mediaText} {${layered}}` : layered;
    });
    return (await Promise.all(texts)).join("\n");
}

/** Returns the columns or rows of a `frameset` as CSS. HTML, rules for parsing a list of dimensions. */
const tracks = (text) => text.split(",").map((part) => {
    const [, number, unit] = /^\s*([\d.]*)\s*([*%]?)/.exec(part);
    return unit === "*" || !number ? `${number || 1}fr` : number + (unit || "px");
}).join(" ");

/**
 * @param {Window} view the archived page
 * @returns {Promise<string>}
 */
async function copyPage(view) {
    const resource = createResources();
    // Nothing in a document without a window is loaded or run. The engine's script doesn't change its elements, so
    // attributes are read from the copies.
    const maker = document.implementation.createHTMLDocument();

    function picture(element) {
        const canvas = document.createElement("canvas");
        canvas.width = element.videoWidth || element.naturalWidth || element.width;
        canvas.height = element.videoHeight || element.naturalHeight || element.height;
        canvas.getContext("2d").drawImage(element, 0, 0);
        return canvas.toDataURL();
    }

    function replaceWithImage(copy, url) {
        const image = maker.createElement("img");
        for (const { name, value } of copy.attributes) image.setAttribute(name, value);
        image.setAttribute("src", url);
        copy.replaceWith(image);
    }

    function styleElement(text, media = "") {
        const style = maker.createElement("style");
        style.textContent = text;
        if (media) style.setAttribute("media", media);
        return style;
    }

    async function copySheet({ sheet }, copy, base) {
        if (!sheet || sheet.disabled) copy.remove();
        else copy.replaceWith(styleElement(await rulesOf(sheet, base, resource), sheet.media.mediaText));
    }

    async function copyImage(element, copy, base) {
        let url = await resource(imageOf(element), base);
        if (!url && element.naturalWidth) url = picture(element);
        for (const name of ["srcset", "sizes", "loading"]) copy.removeAttribute(name);
        copy.setAttribute("src", url);
    }

    async function copyFrame(element, copy) {
        const inner = innerDocument[element.localName](element);
        const frame = maker.createElement("iframe");
        for (const { name, value } of copy.attributes) frame.setAttribute(name, value);
        for (const name of ["src", "srcdoc"]) frame.removeAttribute(name);
        if (element.localName === "frame") frame.style.cssText = "width: 100%; height: 100%; border: 0";
        copy.replaceWith(frame);
        if (inner?.documentElement) frame.setAttribute("srcdoc", await copyDocument(inner));
    }

    function copyFrameset(element, copy) {
        const isOuter = copy.parentNode.localName === "html";
        const grid = maker.createElement(isOuter ? "body" : "div");
        const dimensions = (name) => tracks(copy.getAttribute(name) || "*");
        grid.style.cssText = `display: grid; margin: 0; height: ${isOuter ? "100vh" : "100%"}; `
            + `grid-template: ${dimensions("rows")} / ${dimensions("cols")}`;
        grid.append(...copy.childNodes);
        copy.replaceWith(grid);
    }

    const remove = (element, copy) => copy.remove();
    const keepers = {
        script: remove, noscript: remove, template: remove, source: remove,
        style: copySheet, link: copySheet, img: copyImage, iframe: copyFrame, frame: copyFrame, frameset: copyFrameset,
        canvas: (element, copy) => replaceWithImage(copy, picture(element)),
        async video(element, copy, base) {
            if (element.readyState > 1) replaceWithImage(copy, picture(element));
            else if (copy.hasAttribute("poster")) replaceWithImage(copy, await resource(copy.getAttribute("poster"), base));
        },
        async input(element, copy, base) {
            copy.setAttribute("value", element.type === "password" ? "" : element.value);
            copy.toggleAttribute("checked", element.checked);
            if (element.type === "image") copy.setAttribute("src", await resource(copy.getAttribute("src") ?? "", base));
        },
        textarea: (element, copy) => { copy.textContent = element.value; },
        option: (element, copy) => copy.toggleAttribute("selected", element.selected),
        details: (element, copy) => copy.toggleAttribute("open", element.open),
        async image(element, copy, base) {
            const name = copy.hasAttribute("href") ? "href" : "xlink:href";
            copy.setAttribute(name, await resource(copy.getAttribute(name) ?? "", base));
        },
    };

    async function copyElement(element, copy, base) {
        const parts = [];
        for (const { name } of [...copy.attributes]) {
            if (/^on/i.test(name)) copy.removeAttribute(name);
        }
        if (element.shadowRoot) parts.push(copyShadow(element.shadowRoot, copy));
        if (Object.hasOwn(keepers, element.localName)) parts.push(keepers[element.localName](element, copy, base));
        const style = copy.getAttribute("style") ?? "";
        if (style.includes("url(")) copy.setAttribute("style", await completeStyle(style, base, resource));
        const background = copy.getAttribute("background");
        if (background) copy.setAttribute("background", await resource(background, base));
        await Promise.all(parts);
    }

    /** Copies a shadow tree as the markup of a declarative one. */
    async function copyShadow(root, copy) {
        const template = maker.createElement("template");
        template.setAttribute("shadowrootmode", "open");
        for (const child of root.childNodes) template.content.append(maker.importNode(child, true));
        copy.prepend(template);
        await copyState(root, template.content, template.content);
    }

    /**
     * Copies the state of all elements in a tree.
     *
     * @param {Node} styled where its constructed style sheets go
     */
    async function copyState(from, to, styled) {
        const base = baseOf(from);
        const copies = [...to.querySelectorAll("*")];
        const parts = [...from.querySelectorAll("*")].map((element, index) =>
            // An element whose state can't be copied is printed from its markup.
            copyElement(element, copies[index], base).catch(() => {}));
        for (const sheet of from.adoptedStyleSheets ?? []) {
            parts.push(rulesOf(sheet, base, resource).then((text) => styled.append(styleElement(text)), () => {}));
        }
        await Promise.all(parts);
    }

    async function copyDocument(from) {
        const root = maker.importNode(from.documentElement, true);
        const whole = maker.createElement("div");
        whole.append(root);
        await copyState(from, whole, root.querySelector("head") ?? root);
        return `<!doctype html>${whole.getHTML()}`;
    }

    view.dispatchEvent(new Event("beforeprint"));
    const copy = copyDocument(view.document);
    view.dispatchEvent(new Event("afterprint"));
    return copy;
}
