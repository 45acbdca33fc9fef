/** The view of all activity: what is going on, what failed, and which imported files were duplicates. */
import "../messages/en/activity.js";
import "../messages/en/around.js";
import { groupFrom, otherKinds } from "../components/activity-text.js";
import { followImports, imports } from "../components/import-queue.js";
import { isDuplicate } from "../components/job-results.js";
import { errorBlock } from "../components/messages.js";
import { pageHeader, showBanners } from "../components/page-header.js";
import { activeJobs, followActivity, refreshActivity } from "../core/activity.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { announce, make } from "../core/dom.js";
import { hasMessage, message } from "../core/i18n.js";
import { duplicateList } from "./duplicates.js";
import { failureList } from "./failures.js";
import { isActive, jobName } from "./job-text.js";
import { runningList } from "./running.js";

const jobsMax = 1000;

/** @param {HTMLElement} root */
export function showActivity(root) {
    document.title = `${message("activity.title")} – replayhost`;
    document.body.dataset.view = "activity";
    const known = new Map();
    // Lists of jobs are numbered as they are asked for. For each job that changed since: the number of the last list before.
    const changed = new Map();
    // The states of active jobs that a list no longer had. Their events, which tell how they ended, can come later.
    const gone = new Map();
    let asked = 0;
    let read = 0;
    let frame = 0;
    const all = () => [...known.values()].sort((one, other) => one.id - other.id);
    // The file that this page uploads has a line as an upload.
    const isUpload = ({ kind, subject }) => kind === "import" && subject === imports.current?.file.name;
    const active = () => all().filter((job) => isActive(job.state) && !isUpload(job));
    const running = runningList(active, noteChange);
    const forget = (id) => {
        // A list that was asked for before still has it.
        changed.set(id, asked);
        known.delete(id);
        schedule();
    };
    const failures = failureList(() => all().filter(({ state }) => state === "failed"), noteChange, forget);
    const duplicates = duplicateList(() => all().filter(isDuplicate), forget);
    const problems = make("div");
    root.replaceChildren(pageHeader([]), make("main", { class: "column activity" },
        make("h1", { text: message("activity.title"), tabindex: "-1" }), problems, running.element, failures.element, duplicates.element));
    showBanners();

    // Many jobs can change at once.
    function schedule() {
        frame ||= requestAnimationFrame(update);
    }

    function update() {
        frame = 0;
        running.update();
        failures.update();
        duplicates.update();
    }

    function noteChange(job) {
        changed.set(job.id, asked);
        note(job);
        schedule();
    }

    function note(job) {
        const before = known.get(job.id)?.state ?? gone.get(job.id);
        gone.delete(job.id);
        if (isActive(job.state) || job.state === "failed" || isDuplicate(job)) known.set(job.id, job);
        else known.delete(job.id);
        const ending = `activity.ended-${job.state}`;
        const isAlone = otherKinds().every((kind) => kind.kind !== job.kind || activeJobs(kind) < groupFrom);
        if (before && before !== job.state && isAlone && hasMessage(ending)) announce(message(ending, { name: jobName(job) }));
    }

    /** Reads the imports that ended before this view was open. Later ones come as events. */
    async function loadDuplicates() {
        try {
            (await api.jobs(["done"])).filter((job) => isDuplicate(job) && !changed.has(job.id)).forEach((job) => known.set(job.id, job));
            schedule();
        } catch (error) {
            if (error.status !== 0) problems.replaceChildren(errorBlock(error, message("activity.cant-read")));
        }
    }

    /** Reads the jobs that have a line of their own. */
    async function load() {
        const number = ++asked;
        const hasLines = otherKinds().some((kind) => activeJobs(kind) > 0 && activeJobs(kind) < groupFrom);
        const states = ["failed", ...hasLines || known.size > 0 ? ["waiting", "running", "paused"] : []];
        try {
            const jobs = await api.jobs(states);
            if (number < read) return;
            read = number;
            problems.replaceChildren();
            replace(jobs, number, states);
        } catch (error) {
            // The banner says that the server has stopped, and the list is read again when it's back.
            if (error.status !== 0) problems.replaceChildren(errorBlock(error, message("activity.cant-read")));
        }
        update();
    }

    function replace(jobs, number, states) {
        const isNewer = (id) => changed.get(id) >= number;
        const ids = new Set(jobs.map(({ id }) => id));
        for (const { id, state } of known.values()) {
            if (ids.has(id) || isNewer(id) || !states.includes(state)) continue;
            known.delete(id);
            if (isActive(state)) gone.set(id, state);
        }
        jobs.filter(({ id }) => !isNewer(id)).forEach(note);
    }

    /** The numbers can differ from the jobs that are known, when events were missed. */
    function compare() {
        update();
        const kinds = otherKinds();
        const failed = kinds.reduce((sum, kind) => sum + kind.failed, 0);
        const listed = all().filter(({ state }) => state === "failed").length;
        const lines = active();
        const differs = Math.min(failed, jobsMax) !== Math.min(listed, jobsMax) || kinds.some((kind) => activeJobs(kind) < groupFrom
            && activeJobs(kind) !== lines.filter((job) => job.kind === kind.kind).length);
        if (differs) load();
    }

    const loadAll = () => {
        load();
        loadDuplicates();
    };
    const activity = followActivity({ onChange: compare, onConnected: loadAll, onJob: noteChange });
    const uploads = followImports({ onChange: schedule });
    const server = followServer({ onBack: loadAll });
    update();
    refreshActivity();
    loadAll();

    return {
        kind: "activity",
        close() {
            activity.close();
            uploads.close();
            server.close();
            failures.close();
            cancelAnimationFrame(frame);
        },
    };
}
