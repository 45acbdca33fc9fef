/** The configuration as a text: check, save, and one step back. A text that isn't saved survives a reload and a lost server. */
import { showDialog } from "../../app/components/dialog.js";
import { errorBlock } from "../../app/components/messages.js";
import { announce, make, plain, setText } from "../../app/core/dom.js";
import { message, messageParts } from "../../app/core/i18n.js";
import { isKeyNeeded, isUnreachable } from "../api.js";
import * as api from "./api.js";
import { createEditor } from "./editor.js";
import { runChange, showValue } from "./parts.js";

const storageName = "capture.admin.configuration";
// Text areas have no other line breaks.
const normal = (text) => text.replace(/\r\n?/g, "\n");

/**
 * @param {{onChanged: () => void, onMoving: (link: string) => void}} host `onMoving`: the server may change its port, where the link opens
 *   this page; empty if it stays
 * @returns {{read: () => Promise<void>}}
 */
export function createConfiguration({ onChanged, onMoving }) {
    const [notices, state, problems] = ["notices", "state", "problems"].map((name) => document.getElementById(`config-${name}`));
    const [save, check, discard, restore] = ["save", "check", "discard", "restore"].map((name) => document.getElementById(`config-${name}`));
    const editor = createEditor({ onInput: showState, onSave: () => {
        if (!save.disabled) save.click();
    } });
    // The file's text when it was read, or when the person began to change it.
    let base = null;
    let file = null;
    let isBusy = false;
    let wasRestored = false;

    const isChanged = () => base !== null && editor.text !== base;

    save.addEventListener("click", () => run(save, message("admin.config.not-saved"), saveText));
    check.addEventListener("click", () => run(check, message("admin.config.not-checked"), async () => {
        const found = await api.checkConfiguration(editor.text);
        showProblems(found, message("admin.config.valid"));
    }));
    discard.addEventListener("click", async () => {
        const chosen = await confirm("discard");
        if (chosen) replace(file);
    });
    restore.addEventListener("click", async () => {
        let answer;
        const chosen = await confirm("restore", async () => {
            answer = await api.restoreConfiguration();
        });
        if (!chosen) return;
        replace(answer);
        announce(message("admin.config.restored"));
        onChanged();
    });
    window.addEventListener("beforeunload", (event) => {
        if (isChanged()) event.preventDefault();
    });

    async function run(button, failure, act) {
        isBusy = true;
        await runChange(button, problems, failure, act);
        isBusy = false;
        showState();
    }

    const confirm = (name, run) => showDialog({
        title: message(`admin.config.${name}-title`), body: [make("p", { text: message(`admin.config.${name}-text`) })],
        action: { value: name, text: message(`admin.config.${name}-now`), failure: message(`admin.config.${name}-failed`), isDanger: true, run },
    });

    async function saveText() {
        const { text } = editor;
        const there = await api.configuration();
        if (normal(there.text) !== base && !await confirm("overwrite")) {
            take(there);
            return;
        }
        let answer;
        // The server closes its former port before this page can ask where it is.
        onMoving(await linkAfterMove(text));
        try {
            answer = await api.saveConfiguration(text);
        } catch (error) {
            if (!isUnreachable(error)) onMoving("");
            if (error.status !== 400) throw error;
            const found = await api.checkConfiguration(text);
            if (found.faults.length === 0) throw error;
            showProblems(found, "", message("admin.config.not-saved"));
            return;
        }
        base = text;
        take(answer);
        showProblems(answer, message("admin.config.saved"));
        onChanged();
    }

    /** Returns the link of this page on the port that a text sets; empty if that's the present one. */
    async function linkAfterMove(text) {
        const port = serverPort(text);
        if (!port || location.protocol !== "http:" || port === serverPort(base) || port === location.port) return "";
        const { link } = await api.makeLink();
        return Object.assign(new URL(link), { port }).href;
    }

    /** Takes over what the server has. A changed text stays. */
    function take(answer) {
        const wasShown = file;
        const isFirst = file === null;
        file = { ...answer, text: normal(answer.text) };
        if (isFirst) {
            const draft = readDraft();
            base = draft?.base ?? file.text;
            editor.enable(draft?.text ?? file.text);
            wasRestored = isChanged();
        } else if (!isChanged()) {
            base = file.text;
            if (editor.text !== base) editor.text = base;
        }
        if (!isChanged() && JSON.stringify([wasShown?.faults, wasShown?.warnings]) !== JSON.stringify([file.faults, file.warnings])) showProblems(file);
        showState();
    }

    /** Shows what the server has instead of a changed text. */
    function replace(answer) {
        base = editor.text = normal(answer.text);
        wasRestored = false;
        take(answer);
        showProblems(file);
        editor.focus();
    }

    function showState() {
        const isDraft = isChanged();
        if (!isDraft) wasRestored = false;
        if (file !== null) keepDraft(isDraft ? { base, text: editor.text } : null);
        setText(state, message(isDraft ? "admin.config.changed" : "admin.config.unchanged"));
        state.classList.toggle("warning", isDraft);
        const isReady = file !== null && !isBusy;
        check.disabled = !isReady;
        save.disabled = discard.disabled = !isReady || !isDraft;
        restore.disabled = !isReady || !file?.previous;
        const isOther = isDraft && file !== null && file.text !== base;
        showValue(notices, [isOther, wasRestored], () => [
            wasRestored && make("div", { class: "notice", role: "status", text: message("admin.config.draft") }),
            isOther && make("div", { class: "notice warning", role: "status" }, make("strong", { text: message("admin.config.other") }),
                make("p", { text: message("admin.config.other-text") })),
        ].filter(Boolean));
    }

    /**
     * @param {{faults: import("./api.js").Fault[], warnings: import("./api.js").Fault[]}} found
     * @param {string} [fine] the text if there are no faults
     * @param {string} [title] what failed
     */
    function showProblems({ faults, warnings }, fine = "", title = "") {
        const list = (items, kind) => items.length > 0 && make("div", { class: `notice ${kind}`, role: kind === "error" ? "alert" : "status" },
            make("strong", { text: [title, message(kind === "error" ? "admin.config.faults" : "admin.config.warnings", { n: items.length })]
                .filter(Boolean).join(" ") }),
            make("ul", { class: "faults" }, ...items.map((item) => make("li", {}, make("button", { type: "button", class: "fault",
                on: { click: () => editor.goTo(item.line, item.column) } }, ...messageParts("admin.config.line", { n: item.line,
                text: [item.key, item.message].filter(Boolean).map((part) => plain(part, 1000)).join(": ") }))))));
        const done = faults.length === 0 && fine;
        problems.replaceChildren(...[done && make("p", { class: "fine", text: fine }), list(faults, "error"), list(warnings, "warning")].filter(Boolean));
        if (done) announce(fine);
    }

    showState();

    return {
        async read() {
            if (isBusy) return;
            try {
                const answer = await api.configuration();
                if (!isBusy) take(answer);
            } catch (error) {
                if (isUnreachable(error) || isKeyNeeded(error)) throw error;
                if (file === null) problems.replaceChildren(errorBlock(error, message("admin.config.cant-read")));
            }
        },
    };
}

/** Returns the value of `server.port` in a YAML text, in block style; empty without one. */
function serverPort(text) {
    const block = /^server:[^\S\n]*(?:#.*)?\n((?:[^\S\n]+.*\n?|[^\S\n]*#.*\n|\n)*)/m.exec(text)?.[1] ?? "";
    const entries = [...block.matchAll(/^( +)([\w"']+):[^\S\n]*(\d*)/gm)];
    return entries.find(([, indent, name]) => indent === entries[0][1] && name === "port")?.[3] ?? "";
}

function readDraft() {
    try {
        const draft = JSON.parse(sessionStorage.getItem(storageName));
        return typeof draft?.base === "string" && typeof draft.text === "string" ? draft : null;
    } catch {
        return null;
    }
}

function keepDraft(draft) {
    try {
        if (draft) sessionStorage.setItem(storageName, JSON.stringify(draft));
        else sessionStorage.removeItem(storageName);
    } catch {
        // The browser keeps nothing for this site: it asks before the page closes.
    }
}
