/**
 * `window.setArchiveURL(path)`: opens an archive of this library for replay.
 *
 * A classic script, run before any module, so that the function is there from the start; the modules connect to it
 * when they have loaded. It returns a promise: resolved when the page shows, rejected with an `Error` that says why.
 *
 * At `localhost` it also moves to `replayhost.localhost`, where every browser that finds such names can replay. It asks
 * synchronously, so that nobody is given this page (and a promise of it) just before it is left. Where the answer may
 * not be read, `origins.js` asks again in its own time. A host that was told to keep to `localhost` stays there.
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
    if (calls.moving) location.replace(home + location.pathname + location.search + location.hash);
})();
