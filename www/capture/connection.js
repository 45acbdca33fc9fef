/** The key of this device, and the form that asks for one. */
import { make } from "/app/core/dom.js";
import { message, messageParts } from "/app/core/i18n.js";

const storageName = "capture.key";
const keyForm = /^[\x21-\x7E]{16,200}$/;

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
}

/**
 * Takes the key out of a link such as `#connect=…`, which a phone's camera opened, and out of the address.
 *
 * @returns {boolean} whether the link had a key
 */
export function takeKeyFromLink() {
    const encoded = /^#connect=([\w-]+)$/.exec(location.hash)?.[1];
    if (!encoded) return false;
    history.replaceState(null, "", location.pathname);
    try {
        const bytes = Uint8Array.from(atob(encoded.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
        const payload = JSON.parse(new TextDecoder().decode(bytes));
        if (!keyForm.test(payload.key)) return false;
        setKey(payload.key);
        return true;
    } catch {
        return false;
    }
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
