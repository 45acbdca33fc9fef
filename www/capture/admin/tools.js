/** The tools, and their updates. */
import { showDialog } from "../../app/components/dialog.js";
import { sentence, withCode } from "../../app/components/messages.js";
import { announce, make, plain, setText } from "../../app/core/dom.js";
import { message } from "../../app/core/i18n.js";
import * as api from "./api.js";
import { createList, makeRow, runChange, showValue } from "./parts.js";

/**
 * @param {{onChanged: () => void}} host
 * @returns {{show: (state: import("./api.js").State) => void, isRunning: boolean}}
 */
export function createTools({ onChanged }) {
    const isolation = document.getElementById("tools-isolation");
    const progress = document.getElementById("tools-progress");
    const problems = document.getElementById("tools-problems");
    const update = document.getElementById("tools-update");
    const back = document.getElementById("tools-back");
    const nightly = document.getElementById("tools-nightly");
    const list = createList({
        container: document.getElementById("tools-list"), label: message("admin.tools.title"), none: message("admin.tools.none"),
        idOf: ({ name }) => name, create: createTool,
    });
    let isRunning = false;

    update.addEventListener("click", () => runChange(update, problems, message("admin.tools.update-failed"), async () => {
        showUpdate(await api.updateTools(nightly.checked));
        onChanged();
    }).then(showButtons));
    back.addEventListener("click", async () => {
        const chosen = await showDialog({
            title: message("admin.tools.back-title"), body: [make("p", { text: message("admin.tools.back-text") })],
            action: { value: "back", text: message("admin.tools.back-now"), failure: message("admin.tools.back-failed"), run: async () => {
                showUpdate(await api.rollBackTools());
            } },
        });
        if (chosen) onChanged();
    });

    function showButtons() {
        const focused = document.activeElement;
        update.disabled = back.disabled = nightly.disabled = isRunning;
        if (isRunning && [update, back].includes(focused)) progress.focus();
    }

    function showUpdate(now) {
        showValue(progress, now, () => [
            now.lines.length > 0 && make("ol", { class: "log-lines code", "aria-label": message("admin.tools.lines") },
                ...now.lines.map((line) => make("li", { dir: "auto", text: plain(line, 1000) }))),
            now.running && make("p", { class: "quiet", text: message("admin.tools.running") }),
            now.running && make("progress", { "aria-label": message("admin.tools.running") }),
            now.error && make("div", { class: "notice error" },
                make("strong", { text: message("admin.tools.update-failed") }), make("p", { dir: "auto" }, ...withCode(sentence(plain(now.error, 2000))))),
        ].filter(Boolean));
        if (now.running !== isRunning) {
            announce(message(now.running ? "admin.tools.running" : now.error ? "admin.tools.update-failed" : "admin.tools.done"));
        }
        isRunning = now.running;
        showButtons();
    }

    return {
        show(state) {
            const { confined, reason } = state.isolation;
            setText(isolation, confined ? message("admin.tools.confined") : message("admin.tools.not-confined", { reason: plain(reason, 300) || "?" }));
            list.show(state.tools);
            showUpdate(state.update);
        },
        /** Whether the tools are being updated. */
        get isRunning() {
            return isRunning;
        },
    };
}

function createTool({ name }) {
    const version = make("span", { dir: "auto" });
    const path = make("code", {});
    const element = makeRow(make("strong", { text: plain(name, 100) }), [make("p", { class: "numbers" }, version), make("p", { class: "quiet" }, path)]);
    element.classList.add("tool");

    function update(tool) {
        const isInstalled = tool.path !== null;
        setText(version, tool.version ? plain(tool.version, 100) : message(isInstalled ? "admin.tools.broken" : "admin.tools.missing"));
        version.classList.toggle("warning", !tool.version);
        setText(path, isInstalled ? plain(tool.path, 1000) : "");
        path.parentElement.hidden = !isInstalled;
    }

    return { element, update };
}
