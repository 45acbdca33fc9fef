/** The key of this device, and how it's given: by a link, by a QR code, or by hand. */
import { make } from "../app/core/dom.js";
import { message, messageParts } from "../app/core/i18n.js";
import { writeState } from "./database.js";

const storageName = "capture.key";
const keyForm = /^[\x21-\x7E]{16,200}$/;
const placeForm = /^[a-z0-9.[\]:-]+$/i;
const version = 2;

/** @returns {string} the key; empty without one */
export function key() {
    try {
        return localStorage.getItem(storageName) ?? inMemory;
    } catch {
        return inMemory;
    }
}

// For browsers that keep nothing for this site.
let inMemory = "";

/** @param {string} text empty to forget it */
export function setKey(text) {
    inMemory = text;
    try {
        if (text) localStorage.setItem(storageName, text);
        else localStorage.removeItem(storageName);
    } catch {
        // It is kept until the page closes.
    }
    shareKeyWithWorker();
}

/** Gives the service worker, which can't read this storage, its copy. */
export function shareKeyWithWorker() {
    // Without a database, the worker has nothing to send.
    writeState("key", key()).catch(() => {});
}

/**
 * @typedef {{key: string, lan: string, wan: string, protocol: "http"|"https", fingerprint: string}} Payload what a QR code says:
 *   `lan` and `wan` as `HOST:PORT`; all but `lan` and `protocol` can be empty
 */

/**
 * Reads the text of a QR code of the server: the JSON for apps, or the link for cameras.
 *
 * @param {string} text
 * @returns {Payload|{problem: "foreign"|"later"|"no-lan"|"no-key"}} `foreign`: it isn't a code of a capture server; `later`: this
 *   client is too old for it
 */
export function readPayload(text) {
    let value;
    try {
        value = JSON.parse(decodedLink(text.trim()) ?? text);
    } catch {
        return { problem: "foreign" };
    }
    const { key: secret, lan, wan, protocol, v, fp } = value ?? {};
    if (typeof v !== "string" || !/^\d+(\.\d+)?$/.test(v) || !["http", "https"].includes(protocol)) return { problem: "foreign" };
    if (Number.parseInt(v, 10) > version) return { problem: "later" };
    if (typeof lan !== "string" || !placeForm.test(lan)) return { problem: "no-lan" };
    if (secret !== undefined && !(typeof secret === "string" && keyForm.test(secret))) return { problem: "no-key" };
    return { key: secret ?? "", lan, protocol, wan: typeof wan === "string" && placeForm.test(wan) ? wan : "", fingerprint: typeof fp === "string" ? fp : "" };
}

function decodedLink(text) {
    const encoded = /#connect=([\w-]+)$/.exec(text)?.[1];
    if (!encoded) return null;
    const bytes = Uint8Array.from(atob(encoded.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
    return new TextDecoder().decode(bytes);
}

/**
 * @param {Payload} payload
 * @returns {string} the link that connects a device there. Its fragment isn't sent to a server
 */
export function linkFor(payload) {
    const { fingerprint, ...rest } = payload;
    const fields = Object.entries({ ...rest, fp: fingerprint, v: "2.0" }).filter(([, value]) => value);
    const bytes = new TextEncoder().encode(JSON.stringify(Object.fromEntries(fields)));
    const encoded = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    return `${payload.protocol}://${payload.lan}/#connect=${encoded}`;
}

/**
 * Takes the key out of a link such as `#connect=…`, which a phone's camera opened, and out of the address.
 *
 * @returns {boolean} whether the link had a key
 */
export function takeKeyFromLink() {
    if (!location.hash.startsWith("#connect=")) return false;
    const payload = readPayload(location.hash);
    history.replaceState(null, "", location.pathname);
    if (!payload.key) return false;
    setKey(payload.key);
    return true;
}

/**
 * @param {{isWrong: boolean, onConnected: () => void}} options `isWrong`: whether the server refused the key that this device has
 * @returns {HTMLElement} a form that asks for a key
 */
export function createConnectForm({ isWrong, onConnected }) {
    const problem = make("div", { class: "notice error", role: "alert", hidden: true, id: "key-problem" });
    const input = make("input", {
        id: "key", type: "text", autocapitalize: "none", autocomplete: "off", spellcheck: false, "aria-describedby": "key-hint key-problem",
    });
    const form = make("form", { class: "sheet", novalidate: true },
        make("h1", { text: message(isWrong ? "capture.connect.wrong" : "capture.connect.title") }),
        make("p", { text: message(isWrong ? "capture.connect.wrong-text" : "capture.connect.text") }),
        make("label", { for: "key", text: message("capture.connect.key") }),
        make("div", { class: "paste" }, input, make("button", { type: "submit", class: "primary", text: message("capture.connect.connect") })),
        make("p", { id: "key-hint", class: "quiet hint" }, ...messageParts("capture.connect.hint")), problem);
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        const text = input.value.trim();
        problem.hidden = keyForm.test(text);
        if (!problem.hidden) {
            problem.textContent = message("capture.connect.no-key");
            input.focus();
            return;
        }
        setKey(text);
        onConnected();
    });
    return form;
}
