/** What makes the page an app: its service worker, Background Sync, the badge, and the button that installs it. */

const tag = "replayhost-capture-queue";
let worker = "none";
let installPrompt = null;
let onChange = () => {};

/** @returns {"secure"|"plain"} `plain`: the browser offers no service worker, camera or share target here */
export const connectionKind = () => (isSecureContext ? "secure" : "plain");

// Beside this module, or beside the bundle that it's in.
const workerURL = new URL("worker.js", import.meta.url).href;

/** Starts the service worker. It keeps the files of the app, and sends the queue when the page is closed. */
export async function startWorker() {
    if (!("serviceWorker" in navigator)) return;
    // The policy of the page allows no other script.
    const policy = window.trustedTypes?.createPolicy("capture-worker", { createScriptURL: () => workerURL });
    const url = policy?.createScriptURL("") ?? workerURL;
    const register = (type) => navigator.serviceWorker.register(url, { type, scope: "/", updateViaCache: "none" });
    try {
        // Older browsers don't know modules there. The bundle is none.
        await register("module").catch(() => register("classic"));
        worker = "runs";
    } catch (error) {
        // Browsers start no worker with a certificate that they don't trust. Without a worker, the page needs the server.
        worker = error.name === "SecurityError" ? "refused" : "none";
    }
    onChange();
}

/** @returns {"runs"|"refused"|"none"} whether the service worker runs; `refused`: the browser doesn't trust the certificate */
export const workerState = () => worker;

/** Asks the browser to start the worker as soon as there is a network, also without a page. */
export async function requestSync() {
    try {
        const registration = await navigator.serviceWorker?.getRegistration();
        await registration?.sync?.register(tag);
    } catch {
        // It isn't allowed. The next start sends the queue.
    }
}

/** @param {number} count shown on the icon of the installed app */
export function showBadge(count) {
    // Rejected unless it's installed.
    if (count > 0) navigator.setAppBadge?.(count).catch(() => {});
    else navigator.clearAppBadge?.().catch(() => {});
}

/** Tells the worker which files the page uses, so that it keeps them for a start without the server. */
export async function keepFiles() {
    const worker = (await navigator.serviceWorker?.ready)?.active;
    const paths = performance.getEntriesByType("resource").map(({ name }) => new URL(name)).filter(({ origin, pathname }) =>
        origin === location.origin && /^\/(app|bundle|capture)\//.test(pathname)).map(({ pathname, search }) => pathname + search);
    worker?.postMessage({ keep: [...new Set(["/", "/capture/app.webmanifest", ...paths])] });
}

/** @param {() => void} listener called when it's known whether the worker runs, and when the app can be installed, or was installed */
export function onInstallChange(listener) {
    onChange = listener;
}

/** Whether a button can install the app. */
export const canInstall = () => installPrompt !== null;

/** Whether the page runs as an installed app. */
export const isInstalled = () => matchMedia("(display-mode: standalone)").matches || navigator.standalone === true;

/** Shows the browser's dialog. */
export async function install() {
    const prompt = installPrompt;
    installPrompt = null;
    await prompt?.prompt();
    onChange();
}

addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    installPrompt = event;
    onChange();
});
addEventListener("appinstalled", () => {
    installPrompt = null;
    onChange();
});
