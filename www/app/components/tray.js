/** The line at the bottom of the window: imports of this page, and jobs of the server when there are many. */
import "../messages/en/around.js";
import { activeJobs, followActivity } from "../core/activity.js";
import { HostError } from "../core/api.js";
import { make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { groupFrom, importProgress, kindProgress, otherKinds } from "./activity-text.js";
import { followImports, imports } from "./import-queue.js";
import { resultText } from "./imports.js";
import { errorBlock } from "./messages.js";

const bar = make("progress", { max: 1 });
const text = make("span", { class: "tray-text" });
const actions = make("span", { class: "tray-actions" });
const place = make("div", { class: "tray-problem" });
const element = make("section", { class: "tray", "aria-label": message("tray.label"), hidden: true },
    make("div", { class: "tray-line" }, place, text, bar, actions));
let shown = "";

/** Adds the line to the page. It's in the flow of the page, and what has the focus scrolls clear of it. */
export function showTray() {
    document.getElementById("footer").before(element);
    new ResizeObserver(() => document.documentElement.style.setProperty("--tray-height", `${element.offsetHeight}px`)).observe(element);
    followImports({ onChange: show });
    followActivity({ onChange: show });
}

const button = (key, action) => make("button", { type: "button", class: "plain", text: message(key), on: { click: action } });
const link = () => make("a", { class: "button plain", href: "/#activity", text: message("activity.show") });

function show() {
    const state = imports.isRunning ? "imports" : imports.hasResult ? "result" : groups().length > 0 ? "jobs" : "";
    const isNew = state !== shown;
    shown = state;
    element.hidden = state === "";
    element.dataset.state = state;
    document.documentElement.classList.toggle("has-tray", state !== "");
    if (state === "imports") showProgress(importProgress(), isNew && [link(), button("import.cancel-all", () => imports.cancelAll())]);
    else if (state === "jobs") showProgress(kindProgress(groups()[0]), isNew && [link()]);
    else if (state === "result" && isNew) showResult();
}

/** Kinds with many jobs. Fewer are a number in the app bar. */
const groups = () => otherKinds().filter((kind) => activeJobs(kind) >= groupFrom);

function showProgress({ text: now, done, total }, buttons) {
    place.replaceChildren();
    bar.hidden = false;
    text.textContent = now;
    bar.setAttribute("aria-label", message("tray.label"));
    bar.setAttribute("aria-valuetext", now);
    if (total > 0 && done < total) bar.value = done / total;
    else bar.removeAttribute("value");
    if (buttons) actions.replaceChildren(...buttons);
}

/** One file's failure is shown as a whole. Those of many files are in the list of failures. */
function showResult() {
    const { items, skipped } = imports.batch;
    const failed = items.find(({ error }) => error);
    const isAlone = items.length === 1 && skipped === 0 && failed;
    place.replaceChildren(...(isAlone ? [failureBlock(failed)] : []));
    bar.hidden = true;
    text.textContent = isAlone ? "" : resultText(imports.batch);
    const again = isAlone && failed.state === "cut" && button("import.again", () => imports.addAgain(failed));
    const dismiss = button("toast.dismiss", () => {
        if (isAlone) imports.dismiss(failed);
        imports.dismissResult();
        // The button is gone.
        document.querySelector("main h1, h1")?.focus({ preventScroll: true });
    });
    actions.replaceChildren(...[again, !isAlone && failed && link(), dismiss].filter(Boolean));
}

/** The title names the file, so the message doesn't. */
function failureBlock({ error, file }) {
    const { code, what, where, hint } = error;
    return errorBlock(new HostError({ code, what, where: where === file.name ? "" : where, hint }),
        message("import.failed", { name: plain(file.name, 120) }));
}
