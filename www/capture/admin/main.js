/** The administrator's page of the capture server. */
import "../../app/messages/en/capture-admin.js";
import "../../app/messages/en/capture.js";
import { errorBlock } from "../../app/components/messages.js";
import { announce, make, plain, setText } from "../../app/core/dom.js";
import { message, messageParts } from "../../app/core/i18n.js";
import { isKeyNeeded, isUnreachable } from "../api.js";
import * as api from "./api.js";
import { createConfiguration } from "./configuration.js";
import { createCookies } from "./cookies.js";
import { createDevices } from "./devices.js";
import { createKeys } from "./keys.js";
import { createServerLog } from "./server-log.js";
import { createSignInForm, exchange, takeCodeFromLink } from "./session.js";
import { createDisks, createQueue, createStatus } from "./status.js";
import { setToken, token } from "./token.js";
import { createTools } from "./tools.js";
import { ago } from "../state-texts.js";

const busySeconds = 1;
const idleSeconds = 3;
const stoppedSeconds = 2;
// Keys, users, cookies and the configuration change rarely.
const listSeconds = 10;
// A server that still responds then has kept its port.
const moveSeconds = 20;

const [banners, administration, pageProblems, signInPlace, signOut, footer] = ["banners", "administration", "page-problems", "sign-in-place", "sign-out",
    "footer"].map((id) => document.getElementById(id));

document.title = message("admin.page.document-title");
for (const element of document.querySelectorAll("[data-message]")) element.textContent = message(element.dataset.message);

const onChanged = () => {
    listsReadAt = -Infinity;
    refresh();
};
const host = { onChanged };
const [status, queue, disks, tools, devices] = [createStatus(), createQueue(host), createDisks(), createTools(host), createDevices(host)];
const [keys, cookies, serverLog] = [createKeys(host), createCookies(host), createServerLog()];
const configuration = createConfiguration({ onChanged, onMoving: (link) => {
    movedTo = link;
    movedAt = performance.now();
} });
let listsReadAt = -Infinity;
let isStopped = false;
// Where the server is if it stops responding now.
let movedTo = "";
let movedAt = 0;
let timer;
let reading = null;
let readAgain = false;

/** Reads everything again. A call during a read causes one more read. */
function refresh() {
    clearTimeout(timer);
    if (!token()) return;
    readAgain = reading !== null;
    reading ??= read().finally(() => {
        reading = null;
        if (readAgain) refresh();
        else schedule();
    });
}

function schedule() {
    clearTimeout(timer);
    if (document.visibilityState !== "visible" || !token()) return;
    const seconds = isStopped ? stoppedSeconds : tools.isRunning || devices.isWaiting ? busySeconds : idleSeconds;
    timer = setTimeout(refresh, seconds * 1000);
}

async function read() {
    const used = token();
    try {
        // An ended session is one wrong key, and not one for each request: the server counts them.
        const state = await api.state();
        await Promise.all([serverLog.read(), readLists()]);
        if (used !== token()) return;
        if (performance.now() - movedAt > moveSeconds * 1000) movedTo = "";
        setStopped(false);
        showSignedIn();
        pageProblems.replaceChildren();
        for (const section of [status, queue, disks, tools, devices]) section.show(state);
        showFooter(state);
    } catch (error) {
        if (used !== token()) return;
        setStopped(isUnreachable(error));
        if (isKeyNeeded(error) || [403, 429].includes(error.status)) signIn(isKeyNeeded(error) ? new Error(message("admin.sign-in.ended")) : error);
        else if (!isStopped) showError(error);
    }
}

async function readLists() {
    const now = performance.now();
    if (!devices.isWaiting && now - listsReadAt < listSeconds * 1000) return;
    const [keyList, userList, cookieList] = await Promise.all([api.keys(), api.users(), api.cookies(), configuration.read()]);
    listsReadAt = now;
    keys.show(keyList, userList);
    cookies.show(cookieList);
    devices.showKeys(keyList);
}

function showFooter({ software, started_at: time }) {
    const texts = [plain(software, 80), message("admin.page.started", { time: ago(time) })];
    if (!footer.firstChild) footer.append(make("p", { class: "column" }, make("span"), make("span")));
    [...footer.firstChild.children].forEach((element, index) => setText(element, texts[index]));
}

function showError(error) {
    const place = administration.hidden ? signInPlace : pageProblems;
    const block = errorBlock(error, message("admin.page.cant-read"));
    if (place.textContent !== block.textContent) place.replaceChildren(block);
}

function showSignedIn() {
    if (!administration.hidden) return;
    signInPlace.replaceChildren();
    administration.hidden = signOut.hidden = false;
    // A link can name a section.
    const place = /^#[a-z]+$/.test(location.hash) ? location.hash : location.pathname === "/config/setup" ? "#connect" : "";
    if (place) document.querySelector(`section${place}`)?.focus();
}

/**
 * Shows the form that asks for a link or a key instead of the sections. What was typed in them stays.
 *
 * @param {unknown} error why; `null` for none
 */
function signIn(error) {
    setToken("");
    clearTimeout(timer);
    administration.hidden = signOut.hidden = true;
    signInPlace.replaceChildren(createSignInForm({ error, onSignedIn: onChanged }));
    signInPlace.querySelector("input").focus();
}

async function start() {
    const code = takeCodeFromLink();
    try {
        if (code) await exchange(code);
    } catch (error) {
        signIn(error);
        return;
    }
    if (token()) onChanged();
    else signIn(null);
}

function setStopped(now) {
    if (now === isStopped) return;
    isStopped = now;
    document.body.classList.toggle("stopped", now);
    announce(message(now ? "capture.page.stopped-announced" : "capture.page.runs-again"));
    showBanner();
}

function showBanner() {
    const notice = (title, ...text) => make("div", { class: "notice warning", role: "status" }, make("strong", { text: title }), make("p", {}, ...text));
    const moved = () => notice(message("admin.page.moved"), ...messageParts("admin.page.moved-text", {},
        { a: (...children) => make("a", { href: movedTo }, ...children) }));
    const stopped = () => notice(message("capture.page.stopped"), ...messageParts("admin.page.stopped-text"));
    banners.replaceChildren(...(isStopped ? [movedTo ? moved() : stopped()] : []));
}

signOut.addEventListener("click", () => signIn(null));

document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") onChanged();
    else clearTimeout(timer);
});

window.addEventListener("hashchange", () => {
    if (/^#code=/.test(location.hash)) start();
});

start();
