/** The language of the page. It's loaded before everything that shows texts. */
import { message, setLanguage } from "../app/core/i18n.js";
import { preferences } from "./preferences.js";

/** Chooses the language of the settings, else that of the browser, and fills in the texts of the document. */
export async function useLanguage() {
    const { language } = preferences();
    const wanted = language === "auto" ? navigator.language.slice(0, 2) : language;
    if (wanted === "ja") {
        await import("../app/messages/ja/capture.js");
        setLanguage("ja");
    } else {
        await import("../app/messages/en/capture.js");
    }
    document.title = message("capture.page.document-title");
    for (const element of document.querySelectorAll("[data-message]")) element.textContent = message(element.dataset.message);
}
