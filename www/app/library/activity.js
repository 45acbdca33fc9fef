/**
 * The activity list: running, queued, paused and failed jobs, with buttons to control them.
 *
 * Jobs come and go by themselves, so the list is below the archives, where it moves nothing that someone may be about to
 * click. A link to it is in a line that has room for it.
 */
import { errorBlock, sentence, withCode } from "../components/messages.js";
import * as api from "../core/api.js";
import { announce, arrange, make, plain } from "../core/dom.js";
import { counted, size } from "../core/format.js";

/**
 * The commands for each state. Jobs in other states are finished and aren't shown. To pause, resume or retry a job, the
 * server reads the file again. It can't do so with an upload.
 */
const commands = {
    waiting: ["pause", "cancel"],
    running: ["pause", "cancel"],
    paused: ["resume", "cancel"],
    failed: ["retry", "dismiss"],
};
const rereadingCommands = new Set(["pause", "resume", "retry"]);
// Errors that a retry can't fix: the file isn't a readable archive.
const permanentErrors = new Set(["archive-refused"]);
const labels = { pause: "Pause", resume: "Resume", cancel: "Cancel", retry: "Retry", dismiss: "Dismiss" };
const kinds = { import: "Import of", hash: "Checksum of", text: "Indexing of", verify: "Verification of" };
const endings = { done: "finished", failed: "failed", cancelled: "was cancelled" };

/**
 * @param {{isShownElsewhere: (job: import("../core/api.js").Job) => boolean}} host
 * @returns {{element: HTMLElement, link: HTMLElement, load: () => Promise<void>,
 *   update: (job: import("../core/api.js").Job) => void}} `link`: leads to the element while there are jobs
 */
export function createActivity({ isShownElsewhere }) {
    const list = make("ul", { class: "imports" });
    const dismissAll = make("button", { type: "button", class: "plain", text: "Dismiss all failures", hidden: true, on: {
        click: () => failed().forEach((row) => row.dismiss()),
    } });
    const heading = make("h2", { id: "activity-title", text: "Activity", tabindex: "-1" });
    const section = make("section", { class: "activity", hidden: true, "aria-labelledby": "activity-title" },
        make("div", { class: "list-head" }, heading, dismissAll), list);
    const element = make("div", {}, section);
    const link = make("button", { type: "button", class: "plain activity-link", hidden: true, on: {
        click: () => {
            section.scrollIntoView();
            heading.focus();
        },
    } });
    let room = 0;
    const rows = new Map();
    // Lists of jobs are numbered as they are asked for. For each job that changed since: the number of the last list before.
    let asked = 0;
    let shown = 0;
    const changed = new Map();

    const failed = () => [...rows.values()].filter(({ state }) => state === "failed");

    function show() {
        const sorted = [...rows.entries()].sort(([one], [other]) => one - other).map(([, row]) => row.element);
        arrange(list, sorted);
        section.hidden = link.hidden = sorted.length === 0;
        const failures = failed().length;
        dismissAll.hidden = failures < 2;
        link.classList.toggle("failed", failures > 0);
        link.textContent = `Activity: ${counted(sorted.length, "job")}${failures > 0 ? `, ${failures} failed` : ""}`;
        keepRoom();
    }

    /** A page that is scrolled to its end doesn't scroll back when jobs end. */
    function keepRoom() {
        if (section.offsetHeight <= room) return;
        room = section.offsetHeight;
        element.style.minHeight = `min(${room}px, 100vh)`;
    }

    /** @returns {boolean} whether the state of a job in the list has changed */
    function updateRow(job) {
        const row = rows.get(job.id);
        const before = row?.state;
        if (!Object.hasOwn(commands, job.state) || isShownElsewhere(job)) {
            rows.delete(job.id);
        } else if (row) {
            row.update(job);
        } else {
            rows.set(job.id, createRow(job, update, () => {
                rows.delete(job.id);
                show();
            }));
        }
        return before !== undefined && before !== job.state;
    }

    /** Updates the list with the current state of a job. */
    function update(job) {
        changed.set(job.id, asked);
        showJob(job);
    }

    function showJob(job) {
        const hasChanged = updateRow(job);
        if (hasChanged && Object.hasOwn(endings, job.state)) announce(`${nameOf(job)} ${endings[job.state]}.`);
        show();
    }

    return {
        element,
        link,
        update,

        /** Reads the jobs from the server. When that fails, the list is empty. */
        async load() {
            const number = ++asked;
            const jobs = await api.jobs(Object.keys(commands)).catch(() => []);
            if (number < shown) return;
            shown = number;
            const changedSince = (id) => changed.get(id) >= number;
            const ids = new Set(jobs.map(({ id }) => id));
            for (const id of [...rows.keys()]) {
                if (!ids.has(id) && !changedSince(id)) rows.delete(id);
            }
            jobs.filter(({ id }) => !changedSince(id)).forEach(showJob);
            show();
        },
    };
}

function nameOf(job) {
    return `${kinds[job.kind] ?? "Job for"} ${plain(job.subject, 200)}`;
}

function stateText({ state, done, total, attempt }) {
    const share = total > 0 ? Math.floor(Math.min(1, done / total) * 100) : null;
    const amount = share === null ? "" : `${share} %, ${size(done)} of ${size(total)}`;
    const again = attempt > 1 ? `, attempt ${attempt}` : "";
    return {
        waiting: "Queued",
        running: (amount || "In progress") + again,
        paused: amount ? `Paused at ${amount}` : "Paused",
        failed: `Failed${again}`,
    }[state];
}

function createRow(first, onChanged, onDismissed) {
    const name = nameOf(first);
    const state = make("span", { class: "quiet" });
    const buttons = make("span", { class: "job-actions" });
    const bar = make("progress", { "aria-label": name });
    const reason = make("p", { class: "reason" });
    const problems = make("div");
    const element = make("li", {},
        make("div", { class: "line" }, make("span", { class: "name", text: name }), state, buttons),
        bar, reason, problems);
    const row = { element, state: "", update, dismiss: () => control(first.id, "dismiss") };

    function update(job) {
        state.textContent = stateText(job);
        reason.replaceChildren(...withCode(sentence(plain(job.reason, 500))));
        reason.hidden = !job.reason;
        reason.className = job.state === "failed" ? "reason failed" : "reason";
        bar.hidden = job.state === "failed" || job.state === "waiting";
        if (job.total > 0) {
            bar.max = job.total;
            bar.value = Math.min(job.done ?? 0, job.total);
        } else {
            bar.removeAttribute("value");
        }
        if (row.state !== job.state) showButtons(job);
        row.state = job.state;
    }

    function showButtons({ id, state: now, repeatable, errorCode }) {
        const isPossible = (command) => !rereadingCommands.has(command)
            || repeatable && !(command === "retry" && permanentErrors.has(errorCode));
        const hadFocus = buttons.contains(document.activeElement);
        buttons.replaceChildren(...commands[now].filter(isPossible).map((command) => make("button", { type: "button", class: "plain",
            text: labels[command], "aria-label": `${labels[command]}: ${name}`,
            on: { click: () => control(id, command) } })));
        if (hadFocus) buttons.firstElementChild.focus();
    }

    async function control(id, command) {
        disable(true);
        problems.replaceChildren();
        try {
            if (command === "dismiss") {
                await api.dismissJob(id).catch((error) => {
                    // It's dismissed already, for example in another tab.
                    if (error.code !== "not-found") throw error;
                });
                onDismissed();
                return;
            }
            const job = await (await api.controlJob(id, command)).json().catch(() => null);
            if (job?.id === id) onChanged(job);
        } catch (error) {
            problems.replaceChildren(errorBlock(error));
        }
        disable(false);
    }

    function disable(isDisabled) {
        for (const button of buttons.children) button.disabled = isDisabled;
    }

    update(first);
    return row;
}
