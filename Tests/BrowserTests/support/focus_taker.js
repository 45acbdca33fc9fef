// Runs in an archived page that tries to get what is typed in the viewer. Keys that arrive in any of its windows are kept as names of
// caches of its origin, which stay when the page is closed.
"use strict";
window.taker = (() => {
    // The functions of a window that the page has just made, which nothing has changed yet.
    const realm = document.body.appendChild(document.createElement("iframe")).contentWindow;
    const { focus: focusWindow, HTMLElement: { prototype: { focus: focusElement } } } = realm;
    const listen = (target) => target.addEventListener("keydown", ({ key }) => {
        caches.open(`key ${key}`);
    }, true);
    listen(window);
    let tries = 0;
    const own = () => document.getElementById("own");

    // The ways of ordinary pages.
    const ordinary = {
        element: () => own().focus(),
        svg: () => document.getElementById("drawing").focus(),
        window: () => window.focus(),
        // The page in the frame does it.
        nested: () => {},
    };

    // Ways that get around `page.js`.
    const hostile = {
        "native element": () => focusElement.call(own()),
        "native window": () => focusWindow.call(window),
        fragment: () => {
            location.hash = location.hash === "#own" ? "" : "#own";
        },
        link: () => document.querySelector("a[href='#own']").click(),
        selection: () => getSelection().selectAllChildren(document.getElementById("editable")),
        label: () => document.querySelector("label").click(),
        validity: () => own().reportValidity(),
        dialog: () => {
            const dialog = document.querySelector("dialog");
            dialog.close();
            dialog.showModal();
        },
        agent: () => {
            const agent = window.parent.frames.___replayhost_agent;
            try {
                if (!agent.isListening) listen(agent);
                agent.isListening = true;
            } catch {
                // While the agent's frame loads, it's of another origin. The next try comes soon.
                return;
            }
            focusWindow.call(agent);
            agent.focus();
        },
    };

    function start(way) {
        if (way in ordinary) {
            setInterval(ordinary[way], 40);
            const repeat = () => {
                ordinary[way]();
                requestAnimationFrame(repeat);
            };
            if (["element", "window"].includes(way)) repeat();
        } else {
            setInterval(() => {
                hostile[way]();
                tries += 1;
            }, 40);
        }
    }

    return { start, tries: () => tries };
})();
