/**
 * `window.setArchiveURL(path)`: opens an archive of this library for replay.
 *
 * This is a classic script that runs before any module, so that the function exists from the start. The modules connect
 * to it when they have loaded. The function returns a promise, which resolves when the page is shown and rejects with an
 * `Error` when the archive can't be opened.
 *
 * The script also moves the app from `localhost` to `replayhost.localhost`, where every browser that resolves such names
 * can replay. Its request is synchronous, so that no caller gets a promise from a page that is about to be left. If the
 * browser blocks the response, `origins.js` tries again. With `--origins ports` the app stays at `localhost`.
 */
"use strict";
(() => {
    let connect;
    const application = new Promise((resolve) => {
        connect = resolve;
    });
    const calls = { count: 0, moving: false, connect };

    window.setArchiveURL = function setArchiveURL(path) {
        calls.count += 1;
        return application.then((open) => open(path));
    };
    Object.defineProperty(window, "replayhostCalls", { value: calls });

    const origins = document.querySelector('meta[name="replayhost-origins"]')?.content;
    if (location.hostname !== "localhost" || origins === "ports") return;
    const home = `${location.protocol}//replayhost.localhost:${location.port}`;
    try {
        const request = new XMLHttpRequest();
        request.open("GET", `${home}/api/health`, false);
        request.send();
        calls.moving = request.status === 200;
    } catch {
        calls.moving = false;
    }
    if (calls.moving) {
        location.replace(home + location.pathname + location.search + location.hash);
        return;
    }
    // The server put what loads the app into a template, so that a page that is left doesn't load it.
    document.addEventListener("DOMContentLoaded", () => {
        const parts = document.getElementById("app-parts");
        parts?.replaceWith(parts.content);
    });
})();
