/** The service worker: keeps the files of the app, and sends the queue when there is a network again. */
import "./worker-files.js";
import { readState } from "./database.js";
import { post, responds } from "./post.js";
import { withDefaults } from "./preferences.js";
import { createSender } from "./sender.js";
import * as shares from "./shares.js";

async function sendQueue() {
    const [key, kept] = await Promise.all([readState("key"), readState("preferences")]);
    const preferences = withDefaults(kept);
    if (!preferences.autoRetry || !preferences.backgroundSync) return;
    const send = createSender({ shares, post: (share) => post(share, key ?? ""), settings: () => preferences });
    // No attempt is wasted while the server can't be reached.
    const { kind } = await responds() ? await send(true) : { kind: "waiting" };
    // The browser tries again later.
    if (kind === "waiting") throw new Error("the server can't be reached yet");
}

self.addEventListener("sync", (event) => event.waitUntil(sendQueue()));
