/** The capture server's page: saves URLs, and shows their downloads. */
import "/app/messages/en/capture.js";
import { errorBlock } from "/app/components/messages.js";
import { announce, make, plain } from "/app/core/dom.js";
import { message, messageParts } from "/app/core/i18n.js";
import * as api from "./api.js";
import { createConnectForm, key, takeKeyFromLink } from "./connection.js";
import { createDownloads } from "./downloads.js";
import { createSaveForm } from "./save-form.js";
import { isLibraryURL } from "./urls.js";

const activeSeconds = 1;
const idleSeconds = 5;
const stoppedSeconds = 2;

const banners = document.getElementById("banners");
const listProblems = document.getElementById("list-problems");
const footer = document.getElementById("footer");
const library = document.getElementById("library");

document.title = message("capture.page.document-title");
for (const element of document.querySelectorAll("[data-message]")) element.textContent = message(element.dataset.message);

const downloads = createDownloads({ onChanged: refresh, onEmptied: () => saveForm.focus() });
const saveForm = createSaveForm({ has: downloads.has, onSaved: refresh, onUnreachable: () => {
    setStopped(true);
    schedule();
} });
let health = null;
let healthReadAt = 0;
let isStopped = false;
let connectForm = null;
let timer;
let reading = null;
let readAgain = false;

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
    if (document.visibilityState !== "visible") return;
    const seconds = isStopped ? stoppedSeconds : downloads.isActive ? activeSeconds : idleSeconds;
    timer = setTimeout(refresh, seconds * 1000);
}

async function read() {
    try {
        const [answer] = await Promise.all([downloads.read(), readHealth()]);
        setStopped(false);
        setConnected(true);
        listProblems.replaceChildren();
        downloads.show(answer, health);
    } catch (error) {
        setStopped(api.isUnreachable(error));
        if (api.isKeyNeeded(error)) setConnected(false);
        else if (!isStopped) showListError(error);
    }
}

/** Reads the server's health at most every few seconds. The list doesn't depend on it. */
async function readHealth() {
    const now = performance.now();
    if (health && now - healthReadAt < idleSeconds * 1000) return;
    healthReadAt = now;
    try {
        health = await api.health();
    } catch (error) {
        if (api.isUnreachable(error)) throw error;
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
    if (!now) saveForm.sendAgain();
}

/** Shows the form that asks for a key instead of the rest of the page. */
function setConnected(now) {
    if (now === (connectForm === null)) return;
    const column = document.querySelector("main");
    for (const part of column.children) part.hidden = !now;
    connectForm?.remove();
    connectForm = now ? null : createConnectForm({ isWrong: key() !== "", onConnected: () => {
        setConnected(true);
        refresh();
    } });
    if (connectForm) column.append(connectForm);
    connectForm?.querySelector("input").focus();
}

// While the server is stopped, a link to it would open the browser's error page.
document.addEventListener("click", (event) => {
    if (!isStopped || event.target.closest("a[href]")?.origin !== location.origin) return;
    event.preventDefault();
    window.scrollTo(0, 0);
    announce(message("capture.page.stopped-announced"));
}, true);

document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") refresh();
    else clearTimeout(timer);
});

window.addEventListener("hashchange", () => {
    if (!takeKeyFromLink()) return;
    setConnected(true);
    refresh();
});

takeKeyFromLink();
refresh();
