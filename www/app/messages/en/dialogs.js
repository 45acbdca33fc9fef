/** The English texts of dialogs and toasts, sorted by key. `core/i18n.js` describes their form. */
import { addMessages } from "../../core/i18n.js";

addMessages({
    "copy.done": "Copied.",
    "copy.text": "Copy this text",
    "dialog.cancel": "Cancel",
    "dialog.close": "Close",
    "toast.dismiss": "Dismiss",
    "toast.label": "Message",
});
