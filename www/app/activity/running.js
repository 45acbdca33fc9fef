/** What is going on: a line for each job, and one line for jobs of a kind when there are many. */
import { activityCounts, fileState, groupFrom, importProgress, kindProgress, otherKinds } from "../components/activity-text.js";
import { imports } from "../components/import-queue.js";
import { errorBlock, sentence, withCode } from "../components/messages.js";
import { activeJobs, isActivityKnown, refreshActivity } from "../core/activity.js";
import * as api from "../core/api.js";
import { arrange, make, plain } from "../core/dom.js";
import { hasMessage, message } from "../core/i18n.js";
import { jobName, jobState, possibleCommands } from "./job-text.js";

/**
 * @param {() => import("../core/api.js").Job[]} jobs those that are active, as far as they're known
 * @param {(job: import("../core/api.js").Job) => void} onChanged
 * @returns {{element: HTMLElement, update: () => void}}
 */
export function runningList(jobs, onChanged) {
    const list = make("ul", { class: "jobs", "aria-label": message("activity.running") });
    const none = make("div", { class: "empty-line" }, make("p", { text: message("activity.none") }),
        make("p", { class: "quiet", text: message("activity.none-text") }));
    const element = make("section", { "aria-label": message("activity.running") }, list, none);
    const rows = new Map();

    function update() {
        const shown = [...importLines(), ...otherKinds().filter((kind) => activeJobs(kind) > 0).flatMap(kindLines)];
        for (const id of rows.keys()) if (!shown.some((line) => line.id === id)) rows.delete(id);
        for (const line of shown) {
            if (!rows.has(line.id)) rows.set(line.id, createLine(line.name));
            rows.get(line.id).show(line);
        }
        const hadFocus = list.contains(document.activeElement);
        arrange(list, shown.map(({ id }) => rows.get(id).element));
        if (hadFocus && !list.contains(document.activeElement)) document.querySelector("main h1").focus({ preventScroll: true });
        list.hidden = shown.length === 0;
        none.hidden = shown.length > 0 || activityCounts().active > 0 || !isActivityKnown();
    }

    function importLines() {
        const { unfinished } = imports;
        if (unfinished.length === 0) return [];
        if (unfinished.length >= groupFrom || imports.isWaiting) {
            const { text, done, total } = importProgress();
            return [{ id: "imports", name: text, state: "", done, total,
                buttons: [command("cancel-all", text, () => imports.cancelAll())] }];
        }
        return unfinished.map((item) => {
            const name = message("activity.kind-import", { name: plain(item.file.name, 120) });
            return { id: `file ${item.id}`, name, state: fileState(item), done: item.sent, total: item.file.size,
                isRunning: item.state !== "queued", buttons: [command("cancel", name, () => imports.cancel(item))] };
        });
    }

    function kindLines(kind) {
        if (activeJobs(kind) >= groupFrom) return [groupLine(kind)];
        return jobs().filter((job) => job.kind === kind.kind).slice(0, activeJobs(kind)).map(jobLine);
    }

    function groupLine(kind) {
        const known = hasMessage(`activity.group-${kind.kind}`) ? kind : { ...kind, kind: "other" };
        const { text, done, total } = kindProgress(known);
        const all = (name) => command(`${name}-all`, text, async () => {
            await api.controlJobs(kind.kind, name);
            refreshActivity();
        });
        return { id: kind.kind, name: text, state: "", done, total, isRunning: true, buttons: [
            kind.running + kind.waiting > 0 && all("pause"), kind.paused > 0 && all("resume"), all("cancel")].filter(Boolean) };
    }

    function jobLine(job) {
        const name = jobName(job);
        return { id: `job ${job.id}`, name, state: jobState(job), reason: job.reason, done: job.done, total: job.total,
            isRunning: job.state !== "waiting", buttons: possibleCommands(job).map((one) => command(one, name, async () => {
                const changed = await (await api.controlJob(job.id, one)).json().catch(() => null);
                if (changed?.id === job.id) onChanged(changed);
            })) };
    }

    return { element, update };
}

/** A button of a line, before it's made. */
const command = (name, line, run) => ({ name, run,
    text: message(`activity.${name}`), label: hasMessage(`activity.${name}-label`) ? message(`activity.${name}-label`, { name: line }) : null });

function createLine() {
    const name = make("span", { class: "name" });
    const state = make("span", { class: "quiet" });
    const buttons = make("span", { class: "job-actions" });
    const bar = make("progress", { max: 1 });
    const reason = make("p", { class: "reason" });
    const problems = make("div");
    const element = make("li", {}, make("div", { class: "line" }, name, state, buttons), bar, reason, problems);
    let shown = "";

    function show(line) {
        name.textContent = line.name;
        state.textContent = line.state;
        reason.replaceChildren(...withCode(sentence(plain(line.reason, 500))));
        reason.hidden = !line.reason;
        bar.hidden = line.isRunning === false;
        bar.setAttribute("aria-label", line.name);
        bar.setAttribute("aria-valuetext", line.state || line.name);
        if (line.total > 0) bar.value = Math.min(1, line.done / line.total);
        else bar.removeAttribute("value");
        const names = line.buttons.map((one) => one.name).join();
        if (names === shown) return;
        shown = names;
        const hadFocus = buttons.contains(document.activeElement);
        buttons.replaceChildren(...line.buttons.map(makeButton));
        if (hadFocus) buttons.firstElementChild?.focus();
    }

    function makeButton({ text, label, run }) {
        let isBusy = false;
        return make("button", { type: "button", class: "plain", text, "aria-label": label, on: { click: async () => {
            if (isBusy) return;
            isBusy = true;
            problems.replaceChildren();
            await Promise.resolve(run()).catch((error) => problems.replaceChildren(errorBlock(error)));
            isBusy = false;
        } } });
    }

    return { element, show };
}
