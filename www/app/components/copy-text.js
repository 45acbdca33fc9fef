/** Copies text for the user. */
import "../messages/en/dialogs.js";
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { showDialog } from "./dialog.js";
import { toast } from "./toast.js";

/** @param {string} text */
export async function copyText(text) {
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        // Some browsers don't allow it on every origin. The text can be selected instead.
        const field = make("textarea", { rows: 10, readonly: true, "aria-label": message("copy.text") });
        field.value = text;
        queueMicrotask(() => field.select());
        await showDialog({ title: message("copy.text"), body: [field], close: message("dialog.close"), class: "copy-dialog" });
        return;
    }
    toast(message("copy.done"));
}
