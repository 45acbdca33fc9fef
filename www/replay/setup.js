/** Sets up the replay engine at an archive's origin: the service worker, and the archive as a collection in it. */

// Archived scripts run at this origin too. Nothing here is secret, and its messages must not be trusted.
const boot = JSON.parse(document.getElementById("boot-data").textContent);
const workerURL = boot.worker && new URL(boot.worker, location.href).href;
const silenceSecondsMax = 60;
const lockSecondsMax = 10;
// By lookups, the engine requests each capture from the server. By ranges, it reads the archive's file itself. A
// collection of archives has no file.
const isCollection = boot.source === undefined;
const modes = isCollection ? ["lookups"] : ["lookups", "ranges"];

/** An error during setup. */
class SetupError extends Error {
    constructor(code, detail = "") {
        super(code);
        this.code = code;
        this.detail = String(detail).slice(0, 500);
    }
}

/** Returns the replay mode in the viewer's URL. In the replay frame, it's read from the agent's URL. */
function chosenMode() {
    const read = (search) => new URLSearchParams(search).get("replay");
    let mode = null;
    try {
        const source = location.pathname === "/" ? location : window.top.___replayhost_agent.location;
        mode = read(source.search);
    } catch {
        // No viewer around this page.
    }
    return modes.includes(mode) ? mode : modes[0];
}

const delay = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

async function checkFile() {
    let answer;
    try {
        answer = await fetch(boot.source, { method: "HEAD", cache: "no-store" });
    } catch (error) {
        throw new SetupError("server-unavailable", error.message);
    }
    const reason = {
        "archive-unavailable": "file-unavailable", "archive-changed": "file-changed", "another-file": "file-replaced",
    };
    const code = answer.headers.get("Replayhost-Error");
    if (Object.hasOwn(reason, code)) throw new SetupError(reason[code]);
    if (answer.status === 404 || answer.status === 410) throw new SetupError("file-missing");
    if (!answer.ok) throw new SetupError("file-refused", `The server returned status ${answer.status}.`);
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

/** Returns the registration of an earlier visit if its worker is this version and no other is being installed or waits. */
async function registered() {
    const registration = await navigator.serviceWorker.getRegistration("/");
    const { active, installing, waiting, updateViaCache } = registration ?? {};
    const isCurrent = active?.scriptURL === workerURL && !installing && !waiting && updateViaCache === "none";
    return isCurrent ? registration : undefined;
}

/**
 * Registers the service worker and returns it when it runs, with whether it was there already. Its URL belongs to this version, so it replaces workers of
 * other versions and of archived scripts.
 */
async function startEngine() {
    if (!boot.worker) throw new SetupError("engine-missing");
    if (!navigator.serviceWorker) throw new SetupError("workers-missing");
    let registration, found;
    try {
        // In Chromium, register() can wait 2.4 seconds for a check for updates that the previous visit started.
        found = await registered();
        registration = found ?? await navigator.serviceWorker.register(boot.worker, { scope: "/", updateViaCache: "none" });
    } catch (error) {
        const script = await fetch(boot.worker, { method: "HEAD", cache: "no-store" }).catch(() => null);
        if (!script) throw new SetupError("server-unavailable", error.message);
        throw new SetupError(script.status === 404 ? "engine-missing" : "workers-refused", error.message);
    }
    const pending = registration.installing ?? registration.waiting;
    if (pending) await Promise.race([activated(pending), delay(silenceSecondsMax)]);
    const worker = registration.active;
    if (worker?.scriptURL !== workerURL) throw new SetupError("worker-silent");
    await activated(worker);
    return { worker, wasThere: found !== undefined };
}

/**
 * Sends a message to the engine and waits for its answer.
 * `settle` receives every message. It returns a value to finish, `undefined` to continue, or throws.
 */
function request(worker, message, settle, silenceSeconds = silenceSecondsMax) {
    return new Promise((done, failed) => {
        let timer;
        const end = (finish, value) => {
            clearTimeout(timer);
            navigator.serviceWorker.removeEventListener("message", receive);
            finish(value);
        };
        const wait = () => {
            clearTimeout(timer);
            timer = setTimeout(() => end(failed, new SetupError("worker-silent")), silenceSeconds * 1000);
        };
        const receive = (event) => {
            wait();
            try {
                const value = settle(event.data ?? {});
                if (value !== undefined) end(done, value);
            } catch (error) {
                end(failed, error);
            }
        };
        navigator.serviceWorker.addEventListener("message", receive);
        navigator.serviceWorker.startMessages();
        wait();
        worker.postMessage(message);
    });
}

const listCollections = (worker) => request(worker, { msg_type: "listAll" }, (data) =>
    data.msg_type === "listAll" && Array.isArray(data.colls) ? data.colls.map((c) => c.name) : undefined, 15);

/** Whether the worker answers, without reading the engine's database. */
const isAnswering = (worker) => request(worker, { msg_type: "ping" }, ({ msg_type: type }) =>
    type === "ping" ? true : undefined, 15).catch(() => false);

/** Removes other collections: those of earlier files under the same ID must not replay. */
async function removeOutdated(worker, names) {
    for (const name of names) {
        if (name !== boot.collection) await removeCollection(worker, name);
    }
}

// The URL contains the version of the files, so that the browser can reuse images and scripts without asking.
const captures = `${location.origin}/c/${boot.collection}/`;
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

function addCollection(worker, mode, progress) {
    const { type, file, extraConfig } = settings[mode];
    const message = {
        type,
        file,
        extraConfig,
        msg_type: "addColl",
        name: boot.collection,
        root: false,
        skipExisting: true,
    };
    return request(worker, message, (data) => {
        if (data.name !== boot.collection) return undefined;
        if (data.msg_type === "collAdded") return true;
        if (data.msg_type === "collProgress") {
            if (data.error) throw new SetupError("archive-refused", data.error);
            progress(data.percent);
        }
        return undefined;
    });
}

const removeCollection = (worker, name) => request(worker, { msg_type: "removeColl", name }, (data) =>
    data.msg_type === "listAll" ? true : undefined, 5).catch(() => {});

/** Whether the server supports lookups. A 404 for this unknown name is an answer too. */
async function answersLookups() {
    try {
        const path = `${captures}cdx?url=replayhost.invalid&limit=1`;
        const answer = await fetch(path, { method: "HEAD", cache: "no-store" });
        return answer.ok || answer.status === 404;
    } catch {
        return false;
    }
}

/** Reads the engine's entry for the collection. Archived scripts can change it. */
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

/** Returns the mode of the stored collection if its settings are exactly those that this page sets. */
async function storedMode() {
    const { type, config } = await storedCollection() ?? {};
    return modes.find((mode) => type === settings[mode].storedType
        && config.root === false && config.dbname === `db:${boot.collection}`
        && config.sourceUrl === settings[mode].file.sourceUrl.replace(/^proxy:/, "")
        && JSON.stringify(config.extraConfig) === JSON.stringify(settings[mode].extraConfig));
}

/** Removes workers that archived scripts registered. */
async function removeOtherWorkers() {
    for (const registration of await navigator.serviceWorker.getRegistrations()) {
        if (new URL(registration.scope).pathname !== "/") await registration.unregister();
    }
}

/**
 * Adds the archive in this mode in place of what is there, or by ranges if the engine refuses lookups and the archive has a file. Returns the mode that
 * is used.
 */
async function setUpCollection(worker, mode, exists, progress) {
    if (exists) await removeCollection(worker, boot.collection);
    try {
        await addCollection(worker, mode, progress);
        return mode;
    } catch (error) {
        if (mode === "ranges" || isCollection) throw error;
        const names = await listCollections(worker);
        if (names.includes(boot.collection)) await removeCollection(worker, boot.collection);
        await addCollection(worker, "ranges", progress);
        return "ranges";
    }
}

/**
 * Waits for other pages that change the engine's collections: the agent, and a page that the server got a request for. Each would remove what
 * the other added. An archived script can keep the lock, so the waiting ends.
 */
async function alone(change) {
    let isWaiting = true;
    const act = () => {
        isWaiting = false;
        return change();
    };
    try {
        return await navigator.locks.request("replayhost-setup", { signal: AbortSignal.timeout(lockSecondsMax * 1000) }, act);
    } catch (error) {
        if (!isWaiting) throw error;
        return change();
    }
}

/** Sets up the engine, and returns the replay mode, with whether an earlier setup was complete and unchanged. */
async function setUp(report) {
    // Nothing waits for the other. If several fail, what is wrong with the file is said.
    const isByLookups = chosenMode() === "lookups" ? answersLookups() : false;
    const starting = startEngine();
    starting.catch(() => {});
    if (!isCollection) {
        report("file");
        await checkFile();
    }
    report("engine");
    const { worker, wasThere } = await starting;
    const wanted = await isByLookups ? "lookups" : "ranges";
    if (!modes.includes(wanted)) throw new SetupError("captures-refused");
    report("collection");
    const { mode, isKept } = await alone(async () => {
        const [names] = await Promise.all([listCollections(worker), removeOtherWorkers()]);
        await removeOutdated(worker, names);
        const exists = names.includes(boot.collection);
        if (exists && await storedMode() === wanted) return { mode: wanted, isKept: true };
        return { mode: await setUpCollection(worker, wanted, exists, (percent) => report("collection", percent)), isKept: false };
    });
    if (!navigator.serviceWorker.controller) {
        await Promise.race([
            new Promise((done) => {
                navigator.serviceWorker.addEventListener("controllerchange", done, { once: true });
            }),
            delay(1),
        ]);
    }
    return { mode, isKept: isKept && wasThere };
}

/** Returns the replay mode if the engine is still set up. */
async function currentMode() {
    const worker = (await navigator.serviceWorker?.getRegistration("/"))?.active;
    return worker?.scriptURL === workerURL && await isAnswering(worker) ? storedMode() : undefined;
}
