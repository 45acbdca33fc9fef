/** Sets up the replay engine of an archive's origin: its service worker, and the archive's collection in it. */

// This runs where archived scripts run too. Nothing here is secret, and nobody who listens to it may trust it.
export const boot = JSON.parse(document.getElementById("boot-data").textContent);
const workerURL = boot.worker && new URL(boot.worker, location.href).href;
const silenceSecondsMax = 60;
// By lookups the engine asks this server for each capture; by ranges it reads the archive's file itself, which a
// collection of archives does not have.
export const isCollection = boot.source === undefined;
const ways = isCollection ? ["lookups"] : ["lookups", "ranges"];

/** Why it could not be set up. */
export class Problem extends Error {
    constructor(code, detail = "") {
        super(code);
        this.code = code;
        this.detail = String(detail).slice(0, 500);
    }
}

/** The way to replay that the viewer's address chose. In its replay frame only the agent beside it was told. */
function chosenWay() {
    const read = (search) => new URLSearchParams(search).get("replay");
    let way = null;
    try {
        const place = location.pathname === "/" ? location : window.top.___replayhost_agent.location;
        way = read(place.search);
    } catch {
        // No viewer around this page, or one that chose nothing.
    }
    return ways.includes(way) ? way : ways[0];
}

const delay = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

async function checkFile() {
    let answer;
    try {
        answer = await fetch(boot.source, { method: "HEAD", cache: "no-store" });
    } catch (error) {
        throw new Problem("server-unavailable", error.message);
    }
    const reason = { "archive-unavailable": "file-unavailable", "archive-changed": "file-changed" };
    const code = answer.headers.get("Replayhost-Error");
    if (Object.hasOwn(reason, code)) throw new Problem(reason[code]);
    if (answer.status === 404 || answer.status === 410) throw new Problem("file-missing");
    if (!answer.ok) throw new Problem("file-refused", `The answer was ${answer.status}.`);
}

function activated(worker) {
    return new Promise((done) => {
        const look = () => {
            if (worker.state === "activated" || worker.state === "redundant") done();
        };
        worker.addEventListener("statechange", look);
        look();
    });
}

/**
 * Registers the worker and returns it once it runs. Its address is of this very version: one that is here from before, or that
 * an archived script registered, is replaced.
 */
async function startEngine() {
    if (!boot.worker) throw new Problem("engine-missing");
    if (!navigator.serviceWorker) throw new Problem("workers-missing");
    let registration;
    try {
        registration = await navigator.serviceWorker.register(boot.worker, { scope: "/", updateViaCache: "none" });
    } catch (error) {
        const script = await fetch(boot.worker, { method: "HEAD", cache: "no-store" }).catch(() => null);
        if (!script) throw new Problem("server-unavailable", error.message);
        throw new Problem(script.status === 404 ? "engine-missing" : "workers-refused", error.message);
    }
    const coming = registration.installing ?? registration.waiting;
    if (coming) await Promise.race([activated(coming), delay(silenceSecondsMax)]);
    const worker = registration.active;
    if (worker?.scriptURL !== workerURL) throw new Problem("worker-silent");
    await activated(worker);
    return worker;
}

/**
 * Sends a message to the engine and waits for the one that answers it.
 * `settle` gets every message: it returns a value to end, nothing to go on; it may throw.
 */
function ask(worker, message, settle, silenceSeconds = silenceSecondsMax) {
    return new Promise((done, failed) => {
        let timer;
        const end = (finish, value) => {
            clearTimeout(timer);
            navigator.serviceWorker.removeEventListener("message", hear);
            finish(value);
        };
        const wait = () => {
            clearTimeout(timer);
            timer = setTimeout(() => end(failed, new Problem("worker-silent")), silenceSeconds * 1000);
        };
        const hear = (event) => {
            wait();
            try {
                const value = settle(event.data ?? {});
                if (value !== undefined) end(done, value);
            } catch (error) {
                end(failed, error);
            }
        };
        navigator.serviceWorker.addEventListener("message", hear);
        navigator.serviceWorker.startMessages();
        wait();
        worker.postMessage(message);
    });
}

const listCollections = (worker) => ask(worker, { msg_type: "listAll" }, (data) =>
    data.msg_type === "listAll" && Array.isArray(data.colls) ? data.colls.map((c) => c.name) : undefined, 15);

/** An archive that was replaced under the same id leaves a collection of its earlier bytes: it must not replay. */
async function removeEarlier(worker, names) {
    for (const name of names) {
        if (name === boot.collection) continue;
        await removeCollection(worker, name);
    }
}

const captures = `${location.origin}/c/${boot.id}/`;
const settings = {
    lookups: {
        type: "live",
        storedType: "live",
        file: { sourceUrl: "proxy:" },
        extraConfig: { prefix: "", isLive: false, archivePrefix: captures, archiveMod: "ir_" },
    },
    ranges: isCollection ? null : {
        storedType: "wacz",
        file: { sourceUrl: new URL(boot.source, location.href).href, name: `${boot.id}.wacz` },
        extraConfig: {},
    },
};

function addCollection(worker, way, progress) {
    const { type, file, extraConfig } = settings[way];
    const message = {
        type,
        file,
        extraConfig,
        msg_type: "addColl",
        name: boot.collection,
        root: false,
        skipExisting: true,
    };
    return ask(worker, message, (data) => {
        if (data.name !== boot.collection) return undefined;
        if (data.msg_type === "collAdded") return true;
        if (data.msg_type === "collProgress") {
            if (data.error) throw new Problem("archive-refused", data.error);
            progress(data.percent);
        }
        return undefined;
    });
}

const removeCollection = (worker, name) => ask(worker, { msg_type: "removeColl", name }, (data) =>
    data.msg_type === "listAll" ? true : undefined, 5).catch(() => {});

/** Whether this server can look captures up. It has none of this name; that is an answer, too. */
async function answersLookups() {
    try {
        const path = `${captures}cdx?url=replayhost.invalid&limit=1`;
        const answer = await fetch(path, { method: "HEAD", cache: "no-store" });
        return answer.ok || answer.status === 404;
    } catch {
        return false;
    }
}

/** The collection as the engine keeps it. Archived scripts can write there, too. */
const storedCollection = () => new Promise((done) => {
    const opening = indexedDB.open("collDB");
    opening.onerror = () => done(undefined);
    opening.onupgradeneeded = () => opening.transaction.abort();
    opening.onsuccess = () => {
        const database = opening.result;
        try {
            const reading = database.transaction("colls").objectStore("colls").get(boot.collection);
            reading.onsuccess = () => done(reading.result);
            reading.onerror = () => done(undefined);
        } catch {
            done(undefined);
        } finally {
            database.close();
        }
    };
});

/** How the stored collection was added, if it is as this page adds it, to the letter. */
export async function storedWay() {
    const { type, config } = await storedCollection() ?? {};
    return ways.find((way) => type === settings[way].storedType
        && config.root === false && config.dbname === `db:${boot.collection}`
        && config.sourceUrl === settings[way].file.sourceUrl.replace(/^proxy:/, "")
        && JSON.stringify(config.extraConfig) === JSON.stringify(settings[way].extraConfig));
}

/** There is one worker here. Others were registered by archived scripts. */
async function removeOtherWorkers() {
    for (const registration of await navigator.serviceWorker.getRegistrations()) {
        if (new URL(registration.scope).pathname !== "/") await registration.unregister();
    }
}

/** Adds the archive in this way, and by ranges, where it has a file, when the engine refuses lookups. */
async function setUpCollection(worker, way, exists, progress) {
    if (exists && await storedWay() !== way) await removeCollection(worker, boot.collection);
    try {
        await addCollection(worker, way, progress);
    } catch (error) {
        if (way === "ranges" || isCollection) throw error;
        const names = await listCollections(worker);
        if (names.includes(boot.collection)) await removeCollection(worker, boot.collection);
        await addCollection(worker, "ranges", progress);
    }
}

export async function setUp(report) {
    if (!isCollection) {
        report("file");
        await checkFile();
    }
    report("engine");
    const isByLookups = chosenWay() === "lookups" ? answersLookups() : false;
    const worker = await startEngine();
    const way = await isByLookups ? "lookups" : "ranges";
    if (!ways.includes(way)) throw new Problem("captures-refused");
    report("collection");
    const names = await listCollections(worker);
    await removeOtherWorkers();
    await removeEarlier(worker, names);
    const exists = names.includes(boot.collection);
    await setUpCollection(worker, way, exists, (percent) => report("collection", percent));
    if (!navigator.serviceWorker.controller) {
        await Promise.race([
            new Promise((done) => {
                navigator.serviceWorker.addEventListener("controllerchange", done, { once: true });
            }),
            delay(1),
        ]);
    }
    return worker;
}

export async function isSetUp() {
    const registration = await navigator.serviceWorker?.getRegistration("/");
    if (registration?.active?.scriptURL !== workerURL) return false;
    const names = await listCollections(registration.active).catch(() => []);
    return names.includes(boot.collection) && await storedWay() !== undefined;
}
