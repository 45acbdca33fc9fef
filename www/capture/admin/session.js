/** The administrator's session and the form that opens one. */
import { errorBlock } from "../../app/components/messages.js";
import { make } from "../../app/core/dom.js";
import { message, messageParts } from "../../app/core/i18n.js";
import { openSession } from "./api.js";
import { setToken } from "./token.js";

const keyForm = /^[\x21-\x7E]{16,200}$/;
const codeForm = /#code=([\w-]+)\s*$/;

/**
 * Takes the code of a one-time link out of the address.
 *
 * @returns {string} the code; empty without one
 */
export function takeCodeFromLink() {
    const code = codeForm.exec(location.hash)?.[1] ?? "";
    if (code) history.replaceState(null, "", location.pathname);
    return code;
}

/**
 * Exchanges the code of a one-time link for a session.
 *
 * @param {string} code
 */
export async function exchange(code) {
    // A former token, which may have expired, isn't sent with it.
    setToken("");
    setToken((await openSession(code)).token);
}

/**
 * @param {{error: unknown, onSignedIn: () => void}} options `error`: why the last attempt failed; `null` for none
 * @returns {HTMLElement} a form that takes a one-time link or an administrator's key
 */
export function createSignInForm({ error, onSignedIn }) {
    const problems = make("div", { id: "sign-in-problems" }, error && errorBlock(error));
    const input = make("input", {
        id: "sign-in-text", type: "text", autocapitalize: "none", autocomplete: "off", spellcheck: false, dir: "ltr",
        "aria-describedby": "sign-in-hint sign-in-problems",
    });
    const button = make("button", { type: "submit", class: "primary", text: message("admin.sign-in.open") });
    const form = make("form", { class: "sheet", novalidate: true },
        make("h2", { text: message("admin.sign-in.title") }),
        make("p", {}, ...messageParts("admin.sign-in.text")),
        make("label", { for: "sign-in-text", text: message("admin.sign-in.field") }),
        make("div", { class: "paste" }, input, button),
        make("p", { id: "sign-in-hint", class: "quiet hint", text: message("admin.sign-in.hint") }), problems);
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        const text = input.value.trim();
        const code = codeForm.exec(text)?.[1];
        problems.replaceChildren();
        if (!code && !keyForm.test(text)) {
            problems.append(make("div", { class: "notice error", role: "alert", text: message("admin.sign-in.nothing") }));
            input.focus();
            return;
        }
        button.disabled = true;
        try {
            if (code) await exchange(code);
            else setToken(text);
            onSignedIn();
        } catch (failure) {
            problems.append(errorBlock(failure));
            input.focus();
        }
        button.disabled = false;
    });
    return form;
}
