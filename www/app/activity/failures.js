/** What failed: each once, until it's dismissed. */
import { activityCounts } from "../components/activity-text.js";
import { showDialog } from "../components/dialog.js";
import { imports } from "../components/import-queue.js";
import { failureOf, uploadFailure } from "../components/job-results.js";
import { errorBlock, withCode } from "../components/messages.js";
import { windowedList } from "../components/windowed-list.js";
import { refreshActivity } from "../core/activity.js";
import * as api from "../core/api.js";
import { announce, make, plain } from "../core/dom.js";
import { moment } from "../core/format.js";
import { message } from "../core/i18n.js";
import { canRetry, jobName } from "./job-text.js";

// As in the style sheet.
const isNarrow = matchMedia("(max-width: 47rem)");

/**
 * @param {() => import("../core/api.js").Job[]} jobs those that failed
 * @param {(job: import("../core/api.js").Job) => void} onChanged
 * @param {(id: number) => void} onDismissed
 * @returns {{element: HTMLElement, update: () => void, close: () => void}}
 */
export function failureList(jobs, onChanged, onDismissed) {
    const heading = make("h2", { tabindex: "-1" });
    const all = make("button", { type: "button", text: message("activity.dismiss-all"), on: { click: dismissAll } });
    const note = make("p", { class: "quiet" });
    const problems = make("div");
    let failures = [];
    const list = windowedList({
        label: message("activity.failures-list"),
        load: async (offset, limit) => ({ total: failures.length, items: failures.slice(offset, offset + limit) }),
        render: row,
        shape: () => ({ rem: isNarrow.matches ? 8.5 : 6, columns: 1 }),
    });
    const element = make("section", { class: "failures", hidden: true, "aria-label": message("activity.failures-list") },
        make("div", { class: "list-head" }, heading, all), problems, note, list.element);

    function update() {
        const { failed } = activityCounts();
        const former = JSON.stringify(failures);
        failures = allFailures(jobs());
        element.hidden = failures.length === 0;
        heading.textContent = message("activity.failures", { n: Math.max(failed, failures.length) });
        note.hidden = failed <= failures.length;
        note.textContent = note.hidden ? "" : message("activity.failures-shown", { shown: failures.length, total: failed });
        if (JSON.stringify(failures) === former) return;
        if (list.total === 0) list.load();
        else list.refresh();
    }

    function row({ key, name, what, canRepeat, canAdd }) {
        const button = (action, run) => make("button", { type: "button", class: "plain", text: message(action === "add-again" ? "import.again"
            : `activity.${action}`), "aria-label": message(`activity.${action}-label`, { name }), on: { click: () => attempt(run) } });
        return make("div", { class: "failure" },
            make("div", { class: "text" }, make("p", { class: "name", dir: "auto", text: name }), make("p", { class: "reason" }, ...withCode(what))),
            // Dismiss has the same place in every row, for those who press it again and again.
            make("span", { class: "job-actions" }, button("details", () => showDetails(key)), button("dismiss", () => dismiss(key)),
                canRepeat && button("retry", () => retry(key)), canAdd && button("add-again", () => imports.addAgain(own(key)))));
    }

    const own = (key) => imports.failures.find(({ id }) => key === `file ${id}`);
    const job = (key) => jobs().find(({ id }) => key === `job ${id}`);

    async function attempt(run) {
        problems.replaceChildren();
        try {
            await run();
        } catch (error) {
            problems.replaceChildren(errorBlock(error));
        }
    }

    async function retry(key) {
        const changed = await (await api.controlJob(job(key).id, "retry")).json().catch(() => null);
        keepFocus(key);
        if (changed) onChanged(changed);
    }

    async function dismiss(key) {
        const file = own(key);
        const id = file ? file.job : job(key)?.id;
        keepFocus(key);
        if (file) imports.dismiss(file);
        // It may be dismissed already, for example in another tab.
        if (id && !file) await api.dismissJob(id).catch((error) => error.code === "not-found" || Promise.reject(error));
        if (id) onDismissed(id);
        refreshActivity();
    }

    /** The next row takes the place of one that goes, and keeps the focus. */
    function keepFocus(key) {
        if (failures.length < 2) document.querySelector("main h1").focus();
        else if (failures.at(-1).key === key) list.focus(failures.length - 2);
    }

    async function dismissAll() {
        await attempt(async () => {
            await api.dismissFailures();
            for (const file of imports.failures) imports.dismiss(file);
            for (const { id } of jobs()) onDismissed(id);
            refreshActivity();
            announce(message("activity.dismissed"));
            document.querySelector("main h1").focus();
        });
    }

    function showDetails(key) {
        const { name, what, time, attempts } = failures.find((one) => one.key === key);
        showDialog({ title: name, close: message("dialog.close"), body: [make("p", {}, ...withCode(what)),
            time && make("p", { class: "quiet", text: moment(time) }),
            attempts > 1 && make("p", { class: "quiet", text: message("activity.failed-attempt", { n: attempts }) })].filter(Boolean) });
    }

    return { element, update, close: list.close };
}

/** Failed jobs, and failed uploads of this page. An upload of which the server has a job is listed once. */
function allFailures(jobs) {
    for (const item of imports.failures) {
        item.job ??= jobs.find(({ kind, subject, repeatable, createdAt }) => kind === "import" && !repeatable
            && subject === item.file.name && Date.parse(createdAt) >= item.startedAt - 2000)?.id;
    }
    const taken = new Set(imports.failures.map(({ job }) => job));
    return [
        ...imports.failures.map((item) => ({ key: `file ${item.id}`, name: message("activity.kind-import", { name: plain(item.file.name, 200) }),
            what: uploadFailure(item.error), time: new Date(item.startedAt).toISOString(), canAdd: item.state === "cut" })),
        ...jobs.filter(({ id }) => !taken.has(id)).map((job) => ({ key: `job ${job.id}`, name: jobName(job),
            what: failureOf(job), time: job.finishedAt, attempts: job.attempt, canRepeat: canRetry(job) })),
    ];
}
