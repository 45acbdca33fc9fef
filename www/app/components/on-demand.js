/** Loads what a button opens when the button is first pressed. */
import { serverFailed } from "../core/connection.js";

/**
 * @param {HTMLButtonElement} button
 * @param {() => Promise<void>} load makes the button open something; it's pressed again afterwards
 */
export function openOnDemand(button, load) {
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", async () => {
        try {
            await load();
        } catch {
            // A module didn't load. The banner says whether the server has stopped, and the next press tries again.
            serverFailed();
            openOnDemand(button, load);
            return;
        }
        // What is there already loads before this click has reached the document, where a click closes what is open.
        await new Promise((done) => setTimeout(done));
        button.click();
    }, { once: true });
}
