/** The capture server's page: keeps and sends URLs, and shows their downloads. */
import { errorBlock } from "../app/components/messages.js";
import { toast } from "../app/components/toast.js";
import { announce, make, plain } from "../app/core/dom.js";
import { message, messageParts } from "../app/core/i18n.js";
import * as api from "./api.js";
import { createCompanions } from "./companions.js";
import { createConnectForm, key, shareKeyWithWorker, takeKeyFromLink } from "./connection.js";
import { createDownloads } from "./downloads.js";
import { followEvents } from "./events.js";
import { createHistory } from "./history.js";
import { keepFiles, startWorker } from "./installation.js";
import { useLanguage } from "./language.js";
import { preferences, shareWithWorker } from "./preferences.js";
import { ownPreview } from "./preview.js";
import { createQueue } from "./queue.js";
import { createSaveForm } from "./save-form.js";
import { createSettings } from "./settings-view.js";
import { isUnsent } from "./shares.js";
import { deservesSecondTry, unkeptText } from "./state-texts.js";
import { createTabs } from "./tabs.js";
import { isLibraryURL, sharedURL } from "./urls.js";
import { createWaiting } from "./waiting.js";

const activeSeconds = 1;
const idleSeconds = 5;
const stoppedSeconds = 2;
const eventMilliseconds = 250;

const [banners, listProblems, footer, library] = ["banners", "list-problems", "footer", "library"].map((id) => document.getElementById(id));
await useLanguage();

const shareAgain = ({ url, options }) => attempt(() => queue.add([url], options && Object.keys(options).length > 0 ? { options } : {}, "history"));
const queue = createQueue({ onConfirmed, onRefused, onChange: showQueue });
const waiting = createWaiting(queue);
const downloads = createDownloads({ onChanged: refresh, onEmptied: () => saveForm.focus(), onShareAgain: shareAgain });
const saveForm = createSaveForm({ listed: downloads.ids, add: (urls, request) => queue.add(urls, request, "page"), onSaved: refresh });
const history = createHistory({ onChanged: refresh, onShareAgain: shareAgain });
const settings = createSettings({ onConnected: connected, onRetryAll: () => queue.retry(), onSetting: (name) => {
    if (name === "language") location.reload();
    saveForm.options.reset();
} });
const companions = createCompanions();
// Downloads that this tab has asked for, and those of them that it has tried again: whether the server accepted that.
const followed = new Set();
const secondTries = new Map();
let health = null;
let healthReadAt = 0;
let isStopped = false;
let isConnected = false;
let syncedAt = null;
let pending = 0;
let connectForm = null;
let timer;
let reading = null;
let readAgain = false;
let hasEvents = false;
let eventTimer;
const tabs = createTabs({ onShown: (name) => {
    if (name === "history") history.refresh();
    if (name === "settings") settings.refresh();
} });
// Running downloads have several events in a second.
const events = followEvents({ onEvent: () => {
    eventTimer ??= setTimeout(() => {
        eventTimer = undefined;
        refresh();
    }, eventMilliseconds);
}, onSupport: (isSupported) => {
    hasEvents = isSupported;
    // Both came with the same version of the server.
    if (isSupported) saveForm.options.offerPreview();
} });

async function attempt(act) {
    try {
        await act();
    } catch (error) {
        toast(unkeptText(error));
    }
}

/** Reads the list again. A call during a read causes one more read. */
function refresh() {
    clearTimeout(timer);
    readAgain = reading !== null;
    reading ??= read().finally(() => {
        reading = null;
        if (readAgain) refresh();
        else schedule();
    });
}

function schedule() {
    clearTimeout(timer);
    // A wrong key isn't tried again and again: the server counts that.
    if (document.visibilityState !== "visible" || connectForm) return;
    const seconds = isStopped ? stoppedSeconds : downloads.isActive && !hasEvents ? activeSeconds : idleSeconds;
    timer = setTimeout(refresh, seconds * 1000);
}

async function read() {
    try {
        const [answer] = await Promise.all([downloads.read(), readHealth()]);
        setStopped(false);
        setConnected(true);
        isConnected = true;
        queue.serverResponded();
        syncedAt = Date.now();
        listProblems.replaceChildren();
        tryAgainAtDefault(answer.downloads);
        downloads.show(answer, health);
        companions.follow(answer.downloads);
        if (tabs.current === "history") history.refresh();
    } catch (error) {
        isConnected = false;
        setStopped(api.isUnreachable(error));
        if (api.isKeyNeeded(error)) setConnected(false);
        else if (!isStopped) showListError(error);
    }
    showConnection();
}

/** Reads the server's health at most every few seconds. The list doesn't depend on it. */
async function readHealth() {
    const now = performance.now();
    if (health && now - healthReadAt < idleSeconds * 1000) return;
    healthReadAt = now;
    try {
        health = await api.health();
    } catch (error) {
        if (api.isUnreachable(error) || error.code === "foreign") throw error;
    }
    showHealth();
}

function showHealth() {
    const { software, library: address, tools = [] } = health ?? {};
    const versions = tools.filter(({ version }) => version).map(({ name, version }) => `${plain(name, 40)} ${plain(version, 40)}`);
    const text = [plain(software, 80) || "replayhost", versions.join(", ")];
    if (footer.dataset.shown !== text.join()) {
        footer.dataset.shown = text.join();
        footer.replaceChildren(make("p", { class: "column" }, ...text.map((part) => make("span", { text: part }))));
    }
    library.hidden = !isLibraryURL(address);
    if (isLibraryURL(address)) library.href = address;
}

/** A download that failed in the chosen quality is tried once more at default quality. Then it has no quality that could fail. */
function tryAgainAtDefault(list) {
    for (const download of list) {
        const id = download.download_id;
        download.isSecondTry = secondTries.get(id) === true;
        if (secondTries.has(id) || !followed.has(id) || !deservesSecondTry(download)) continue;
        secondTries.set(id, false);
        const { mode, form } = download.options;
        api.retry(id, { ...(mode && { mode }), ...(form && { form }) }).then(() => {
            secondTries.set(id, true);
            refresh();
        }, () => {});
    }
}

function showListError(error) {
    const block = errorBlock(error, message("capture.page.cant-read"));
    if (listProblems.textContent !== block.textContent) listProblems.replaceChildren(block);
}

function setStopped(now) {
    if (now === isStopped) return;
    isStopped = now;
    document.body.classList.toggle("stopped", now);
    announce(message(now ? "capture.page.stopped-announced" : "capture.page.runs-again"));
    banners.replaceChildren(...(now ? [make("div", { class: "notice warning", role: "status" },
        make("strong", { text: message("capture.page.stopped") }),
        make("p", {}, ...messageParts("capture.page.stopped-text")))] : []));
    if (!now) events.connect();
}

/** Shows the form that asks for a key instead of the rest of the page. */
function setConnected(now) {
    if (now === (connectForm === null)) return;
    document.getElementById("tabs").hidden = !now;
    document.body.classList.toggle("unconnected", !now);
    connectForm?.remove();
    connectForm = now ? null : createConnectForm({ isWrong: key() !== "", onConnected: connected });
    if (connectForm) document.querySelector("main").append(connectForm);
    connectForm?.querySelector("input").focus();
}

/** This device has a new key. */
function connected() {
    setConnected(true);
    refresh();
    events.connect();
    // What the old key has stopped goes on.
    queue.retry();
}

function onConfirmed(share) {
    saveForm.noteConfirmed(share);
    followed.add(share.serverDownloadId);
    if (share.request.options?.disposition === "preview") ownPreview(share.serverDownloadId);
    refresh();
}

function onRefused(entry) {
    if (!saveForm.noteRefused(entry)) toast(message("capture.share.refused", { what: plain(entry.message) }));
}

function showQueue(list) {
    waiting.show(list);
    pending = list.filter(isUnsent).length;
    showConnection();
}

function showConnection() {
    settings.update({ isConnected, syncedAt, pending });
}

/** Keeps what another page or app opened here. It's sent once the person confirms it. */
async function takeShare() {
    if (location.pathname !== "/share") return;
    const fields = new URLSearchParams(location.search);
    window.history.replaceState(null, "", "/#download");
    const url = sharedURL(fields, preferences().allowedDomains);
    if (!url) {
        saveForm.refuse("", message("capture.share.unable"));
        return;
    }
    try {
        const held = await queue.hold([url], "share");
        if (held.length === 0) saveForm.refuse(url, message("capture.share.too-many"));
    } catch (error) {
        saveForm.refuse(url, unkeptText(error));
    }
}

// While the server is stopped, a link to it would open the browser's error page.
document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!isStopped || link?.origin !== location.origin || link.pathname === "/" && link.hash) return;
    event.preventDefault();
    window.scrollTo(0, 0);
    announce(message("capture.page.stopped-announced"));
}, true);

document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") {
        refresh();
        queue.send();
    } else {
        clearTimeout(timer);
    }
});

window.addEventListener("hashchange", () => {
    if (takeKeyFromLink()) connected();
});

takeKeyFromLink();
await takeShare();
tabs.show();
shareWithWorker();
shareKeyWithWorker();
queue.changed();
queue.send();
refresh();
startWorker().then(keepFiles);
