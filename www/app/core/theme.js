/** Applies the chosen appearance before the first paint. A classic script, since modules run later. */
"use strict";
(() => {
    try {
        const { theme } = JSON.parse(localStorage.getItem("replayhost-settings") ?? "{}");
        if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    } catch {
        // The browser blocks storage, or its content isn't ours: the system's appearance applies.
    }
})();
