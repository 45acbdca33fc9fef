// Runs in a page before all other scripts of it, and tries to find out which words the viewer marks. Each attempt notes what
// it sees in `spy.seen`, by its name, and how often.
"use strict";
window.spy = (() => {
    const seen = {};
    let isNoting = false;
    const note = (how, value) => {
        // It calls functions that are changed, too.
        if (isNoting) return;
        isNoting = true;
        try {
            const values = seen[how] ??= Object.create(null);
            const text = String(value).slice(0, 2000);
            values[text] = (values[text] ?? 0) + 1;
        } finally {
            isNoting = false;
        }
    };
    const real = globalThis;
    // The engine's `Function.prototype.apply` calls functions that are changed.
    const { apply } = Reflect;

    /** Replaces the functions of a window, so that each call notes `this` and the arguments. */
    function patch(target, where) {
        const patched = {
            String: ["indexOf", "includes", "startsWith", "endsWith", "localeCompare", "normalize", "toLowerCase", "match", "matchAll", "search", "slice", "split"],
            RegExp: ["exec", "test"], Array: ["includes", "indexOf", "push", "some", "find", "map", "filter", "at"],
            Map: ["get", "set", "has"], Set: ["add", "has"], WeakMap: ["get", "set"],
            Range: ["setStart", "setEnd", "selectNodeContents", "toString"], TreeWalker: ["nextNode"], Text: ["substringData"],
            HighlightRegistry: ["set"], Highlight: ["add"], Window: ["find"], Selection: ["addRange", "setBaseAndExtent"], MessagePort: ["postMessage"],
        };
        for (const [type, names] of Object.entries(patched)) {
            const prototype = target[type]?.prototype;
            for (const name of names) {
                const original = prototype?.[name];
                if (typeof original !== "function") continue;
                prototype[name] = function (...values) {
                    for (const value of [this, ...values]) {
                        if (typeof value === "string" && value.length < 200) note(`${where} ${type}.${name}`, value);
                    }
                    return apply(original, this, values);
                };
            }
        }
        if (target.Highlight) {
            const Original = target.Highlight;
            target.Highlight = function (...ranges) {
                for (const range of ranges) note(`${where} Highlight`, range);
                return new Original(...ranges);
            };
        }
        const { get } = Object.getOwnPropertyDescriptor(target.MessageEvent.prototype, "data");
        Object.defineProperty(target.MessageEvent.prototype, "data", { configurable: true, get() {
            const data = apply(get, this, []);
            try {
                note(`${where} MessageEvent.data`, JSON.stringify(data));
            } catch {
                // Not a message that can be written.
            }
            return data;
        } });
        target.addEventListener("message", ({ data }) => note(`${where} message`, JSON.stringify(data)), true);
        new target.MutationObserver((all) => {
            for (const one of all) note(`${where} mutation`, `${one.type} ${one.target.nodeName} ${[...one.addedNodes].map((node) => node.textContent)}`);
        }).observe(target.document, { subtree: true, childList: true, attributes: true, characterData: true });
        if (target.BroadcastChannel) new target.BroadcastChannel("replayhost").onmessage = ({ data }) => note(`${where} broadcast`, data);
    }

    patch(real, "page");
    // The agent's window has the page's own origin.
    const isAgent = (frame) => {
        try {
            return frame !== real && frame.location.pathname === "/" && frame.document.readyState !== "loading";
        } catch {
            return false;
        }
    };
    const agents = () => Array.from({ length: real.top.length }, (_, index) => real.top[index]).filter(isAgent);
    const patchedAgents = new WeakSet();

    /** Returns text of highlights, by functions that nothing has changed. */
    function highlightsOf(target, fresh) {
        const registry = target.CSS?.highlights;
        if (!registry || !fresh.HighlightRegistry) return [];
        const found = [];
        for (const [name, highlight] of fresh.HighlightRegistry.prototype.entries.call(registry)) {
            for (const range of fresh.Highlight.prototype.values.call(highlight)) found.push(`${name}: ${fresh.Range.prototype.toString.call(range)}`);
        }
        return found;
    }

    function look() {
        const attempts = {
            "frame name": () => real.name, "referrer": () => real.document.referrer, "location": () => real.location.href,
            "navigation": () => JSON.stringify(real.performance.getEntries()), "history": () => JSON.stringify(real.history.state),
            "viewer location": () => real.top.location.href, "viewer name": () => real.top.name, "viewer document": () => real.top.document.body.textContent,
            "ancestors": () => [...real.location.ancestorOrigins ?? []].join(), "cookies": () => real.document.cookie,
            "storage": () => JSON.stringify([{ ...real.localStorage }, { ...real.sessionStorage }]),
            "selection": () => real.getSelection().toString(),
            "fragment directive": () => JSON.stringify(real.document.fragmentDirective?.items ?? ""),
        };
        for (const [how, attempt] of Object.entries(attempts)) {
            try {
                note(how, attempt());
            } catch (error) {
                note(`${how} (refused)`, error.name);
            }
        }
        const frame = real.document.querySelector("#fresh").contentWindow;
        const windows = { page: real, frame };
        for (const agent of agents()) {
            windows.agent = agent;
            if (patchedAgents.has(agent)) continue;
            patchedAgents.add(agent);
            patch(agent, "agent");
        }
        for (const [where, target] of Object.entries(windows)) {
            for (const text of highlightsOf(target, frame)) note(`${where} highlight`, text);
            for (const sheet of [...target.document.styleSheets, ...target.document.adoptedStyleSheets]) {
                for (const rule of sheet.cssRules) note(`${where} style`, rule.cssText);
            }
            note(`${where} selection`, target.getSelection()?.toString() ?? "");
            note(`${where} document`, target.document.documentElement.outerHTML.length);
        }
    }
    setInterval(look, 50);

    /** Notes whether the browser says that something is in front of the words (IntersectionObserver, version 2). */
    addEventListener("DOMContentLoaded", () => {
        const observer = new IntersectionObserver((entries) => {
            for (const { target, isVisible } of entries) note(`covered ${target.id}`, isVisible);
        }, { trackVisibility: true, delay: 100 });
        for (const word of document.querySelectorAll("b[id]")) observer.observe(word);
    });
    /** Does what the viewer must not do: shows what is noted then. */
    function control(word) {
        const place = document.querySelector("#wanted");
        const { Highlight, HighlightRegistry } = real.document.querySelector("#fresh").contentWindow;
        if (Highlight) {
            const range = document.createRange();
            range.selectNodeContents(place);
            HighlightRegistry.prototype.set.call(CSS.highlights, "control", new Highlight(range));
        }
        getSelection().selectAllChildren(place);
        document.body.append(word);
        for (const { String, RegExp, Set } of [real, ...agents()]) {
            String.prototype.indexOf.call("text", word);
            RegExp.prototype.test.call(/x/, word);
            Set.prototype.add.call(new Set(), word);
        }
        return Highlight !== undefined;
    }
    return { seen, control };
})();
