// Tries each way of a page to another host, notes it at the page's own server, and says when all were tried.

const secondsMax = 4;
const late = () => new Promise((done) => setTimeout(done, secondsMax * 1000));
const own = (path, url) => `/${path}${path.includes("?") ? "&" : "?"}to=${encodeURIComponent(url)}`;

const element = (tag, properties) => new Promise((done) => {
    const one = Object.assign(document.createElement(tag), properties);
    one.onload = one.onerror = done;
    document.body.append(one);
});
const link = (rel, href, more) => element("link", { rel, href, ...more });
const frame = (path, url) => element("iframe", { src: own(path, url) });
const style = (text) => element("style", { textContent: text });
const until = (one, ...events) => new Promise((done) => events.forEach((name) => { one[`on${name}`] = done; }));

const gather = (urls) => new Promise((done) => {
    const connection = new RTCPeerConnection({ iceServers: urls.length ? [{ urls, username: "name", credential: "word" }] : [] });
    connection.createDataChannel("x");
    connection.onicecandidate = ({ candidate }) => candidate || done();
    connection.createOffer().then((offer) => connection.setLocalDescription(offer));
});

// Makes Chromium announce a name in the local network.
const gatherNothing = () => gather([]);

// Connects to an address that a page of another computer could have told, without any server.
async function connectToPeer(address) {
    const connection = new RTCPeerConnection();
    connection.createDataChannel("x");
    await connection.setLocalDescription(await connection.createOffer());
    const sdp = connection.localDescription.sdp.replace(/a=setup:\S+/, "a=setup:active").replace(/a=candidate.*\r\n/g, "");
    await connection.setRemoteDescription({ type: "answer", sdp });
    await connection.addIceCandidate({ candidate: `candidate:1 1 udp 2122260223 ${address} 40000 typ host`, sdpMid: "0" });
    await late();
}

async function repeat(url) {
    for (let count = 0; count < 3; count++) await fetch(url, { mode: "no-cors" });
    await late();
}

async function speculate(url) {
    document.head.append(Object.assign(document.createElement("script"), {
        type: "speculationrules", textContent: JSON.stringify({ prefetch: [{ source: "list", urls: [url], eagerness: "immediate" }] }),
    }));
    await late();
}

async function serve(url) {
    const registration = await navigator.serviceWorker.register(own("script/service", url));
    await until(registration.installing, "statechange");
}

const kinds = {
    "fetch": (url) => fetch(url, { mode: "no-cors" }),
    "request": (url) => {
        const one = new XMLHttpRequest();
        one.open("GET", url);
        one.send();
        return until(one, "loadend");
    },
    "image": (url) => element("img", { src: url }),
    "script": (url) => element("script", { src: url }),
    "style-sheet": (url) => link("stylesheet", url),
    "css-import": (url) => style(`@import url("${url}");`),
    "css-background": (url) => {
        style(`.background { width: 10px; height: 10px; background-image: url("${url}"); }`);
        document.body.append(Object.assign(document.createElement("div"), { className: "background" }));
        return late();
    },
    "font": (url) => new FontFace("one", `url("${url}")`).load(),
    "frame": (url) => element("iframe", { src: url }),
    "frame-of": (url) => element("iframe", { src: url }),
    "object": (url) => element("object", { data: url }),
    "embed": (url) => element("embed", { src: url }),
    "video": (url) => until(document.body.appendChild(Object.assign(document.createElement("video"), { src: url })), "error"),
    "audio": (url) => until(new Audio(url), "error"),
    "svg-image": (url) => {
        document.body.append(new DOMParser().parseFromString(
            `<svg xmlns="http://www.w3.org/2000/svg"><image href="${url}" width="9" height="9"/></svg>`, "image/svg+xml").documentElement);
        return late();
    },
    "web-socket": (url) => until(new WebSocket(url), "open", "close"),
    "event-source": (url) => until(new EventSource(url), "error"),
    "preconnect": (url) => { link("preconnect", new URL(url).origin); return late(); },
    "dns-prefetch": (url) => { link("dns-prefetch", new URL(url).origin); return late(); },
    "preload": (url) => link("preload", url, { as: "image" }),
    "prefetch": (url) => link("prefetch", url),
    "module-preload": (url) => link("modulepreload", url),
    "link-header": (url) => frame("frame/link", url),
    "worker": (url) => until(new Worker(own("script/fetch", url)), "message", "error"),
    "worker-import": (url) => until(new Worker(own("script/import", url)), "message", "error"),
    "shared-worker": (url) => until(new SharedWorker(own("script/shared", url)).port, "message"),
    "beacon": (url) => navigator.sendBeacon(url, "x"),
    "keep-alive": (url) => fetch(url, { mode: "no-cors", keepalive: true }),
    "ping": (url) => frame("frame/ping", url),
    "speculation": speculate,
    "policy-report": (url) => frame("frame/policy", url),
    "window": (url) => { open(url); return late(); },
    "download": (url) => frame("frame/download", url),
    "redirect-301": (url) => element("img", { src: own("redirect?status=301", url) }),
    "redirect-307": (url) => fetch(own("redirect?status=307", url), { mode: "no-cors", method: "POST", body: "x" }),
    "redirect-frame": (url) => frame("redirect?status=302", url),
    "meta-refresh": (url) => frame("frame/meta", url),
    "location": (url) => frame("frame/location", url),
    "form-get": (url) => frame("frame/get", url),
    "form-post": (url) => frame("frame/post", url),
    "gather": gather,
    "gather-nothing": gatherNothing,
    "peer": connectToPeer,
    "service-worker": serve,
    "web-transport": (url) => new WebTransport(url).ready,
    "repeat": repeat,
};

async function tryAll(ways, page) {
    await Promise.all(ways.map(async ({ name, kind, url }) => {
        try {
            // The icon is in the page.
            if (kinds[kind]) await Promise.race([kinds[kind](url), late()]);
        } catch {
            // Refused; what was sent before is on the wire.
        }
        await fetch(`/tried?way=${name}`).catch(() => 0);
    }));
    await fetch(`/done?by=${encodeURIComponent(page)}`);
}
