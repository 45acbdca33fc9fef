// Tries every way that a page has to reach another host, then says so to its own server: /done-attempts, /done-leaving.

const secondsMax = 4;
const late = () => new Promise((done) => setTimeout(done, secondsMax * 1000));

const element = (tag, properties) => new Promise((done) => {
    const one = Object.assign(document.createElement(tag), properties);
    one.onload = one.onerror = done;
    document.body.append(one);
});

const socket = (address) => new Promise((done) => {
    const one = new WebSocket(address);
    one.onopen = one.onclose = done;
});

const gather = (urls) => new Promise((done) => {
    const connection = new RTCPeerConnection({ iceServers: [{ urls, username: "name", credential: "word" }] });
    connection.createDataChannel("x");
    connection.onicecandidate = ({ candidate }) => candidate || done();
    connection.createOffer().then((offer) => connection.setLocalDescription(offer));
});

// Connects to an address that a page of another computer could have told, without any server.
async function connectToPeer(address) {
    const connection = new RTCPeerConnection();
    connection.createDataChannel("x");
    await connection.setLocalDescription(await connection.createOffer());
    const sdp = connection.localDescription.sdp.replace(/a=setup:\S+/, "a=setup:active")
        .replace(/a=candidate.*\r\n/g, "");
    await connection.setRemoteDescription({ type: "answer", sdp });
    await connection.addIceCandidate({ candidate: `candidate:1 1 udp 2122260223 ${address} 40000 typ host`, sdpMid: "0" });
    await late();
}

const attempts = ({ addresses, otherPort }) => [
    () => fetch("http://fetch.test/"),
    () => fetch(`http://${addresses.fetch}/`, { mode: "no-cors" }),
    () => fetch("http://[2001:db8::7]/", { mode: "no-cors" }),
    () => element("img", { src: "http://img.test/a.png" }),
    () => element("link", { rel: "dns-prefetch", href: "http://dns-prefetch.test/" }),
    () => element("link", { rel: "preconnect", href: "http://preconnect.test/" }),
    () => element("iframe", { src: "http://frame.test/" }),
    () => element("iframe", { srcdoc: '<script>location = "http://leaving-frame.test/"</' + "script>" }),
    () => socket("ws://socket.test/"),
    () => gather(`stun:${addresses.stun}:3478`),
    () => gather("stun:stun-name.test:3478"),
    () => gather(`turn:${addresses.turn}:3478?transport=tcp`),
    () => gather("turns:turn-name.test:443?transport=tcp"),
    () => connectToPeer(addresses.peer),
    () => new WebTransport(`https://${addresses.transport}:4433/`).ready,
    () => fetch(`http://localhost:${otherPort}/fetch`, { mode: "no-cors" }),
    () => fetch(`http://127.0.0.1:${otherPort}/address`, { mode: "no-cors" }),
    () => socket(`ws://localhost:${otherPort}/socket`),
    () => gather(`stun:127.0.0.1:${otherPort}`),
];

async function tryAll(places) {
    await Promise.all(attempts(places).map(async (attempt) => {
        try {
            await Promise.race([attempt(), late()]);
        } catch {
            // Refused; what was sent before is on the wire.
        }
    }));
    await fetch("/done-attempts");
    addEventListener("pagehide", () => navigator.sendBeacon("/done-leaving"));
    late().then(() => fetch("/done-leaving"));
    top.location = "http://top.test/";
}
