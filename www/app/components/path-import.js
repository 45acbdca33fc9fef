/** Adds files and folders of the computer where the server runs, and says what became of each. */
import "../messages/en/around.js";
import { followActivity } from "../core/activity.js";
import * as api from "../core/api.js";
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { navigate } from "../core/navigation.js";
import { HostError } from "../core/request.js";
import { tabURL } from "../core/routes.js";
import { showDialog } from "./dialog.js";
import { addedText, countsText } from "./imports.js";
import { failureOf, fileOf, hasEnded, isDuplicate } from "./job-results.js";
import { toast } from "./toast.js";

/** Asks for the path of a file or a folder, and imports it. */
export async function addByPath() {
    const path = make("input", { type: "text", id: "computer-path", required: true, dir: "ltr", autocomplete: "off",
        autocapitalize: "none", spellcheck: "false", placeholder: "/media/archives", autofocus: true });
    const link = make("input", { type: "checkbox", id: "computer-link" });
    let jobs = [];
    const chosen = await showDialog({
        title: message("computer.title"),
        class: "computer-dialog",
        body: [
            make("p", { class: "quiet", text: message("computer.explanation") }),
            make("label", { for: path.id, text: message("computer.path") }), path,
            make("label", { class: "choice" }, link, message("computer.link")),
            make("p", { class: "quiet hint", text: message("computer.link-hint") }),
        ],
        action: { value: "add", text: message("computer.add"), run: async () => {
            jobs = await importPath(path.value.trim(), link.checked);
        } },
    });
    if (!chosen) return;
    toast(message("computer.started", { n: jobs.length }), showActivity);
    if (jobs.length > 0) whenEnded(jobs, showResult);
}

const showActivity = { text: message("activity.show"), onChosen: () => navigate("/#activity") };

async function importPath(path, link) {
    if (!path.startsWith("/")) throw new HostError({ code: "relative-path", what: message("computer.whole-path") });
    return api.importPaths({ paths: [path], link });
}

/** Calls back once all of the jobs have ended. Some may end before their events are listened to, so they are read then, too. */
function whenEnded(jobs, done) {
    const ended = new Map();
    const waiting = new Set(jobs.map(({ id }) => id));
    const activity = followActivity({ onChange: () => {}, onJob: note, onConnected: read });
    read();

    function note(job) {
        if (!waiting.has(job.id) || !hasEnded(job)) return;
        waiting.delete(job.id);
        ended.set(job.id, job);
        finish();
    }

    function read() {
        for (const id of waiting) {
            api.job(id).then(note, ({ code }) => {
                // It was dismissed, for example in another tab. Other errors are repeated when the server is back.
                if (code === "not-found" && waiting.delete(id)) finish();
            });
        }
    }

    function finish() {
        if (waiting.size > 0) return;
        activity.close();
        done([...ended.values()]);
    }
}

async function showResult(jobs) {
    const count = (wanted) => jobs.filter(wanted).length;
    if (jobs.length === 1) {
        await showOne(jobs[0]);
    } else if (jobs.length > 1) {
        toast(countsText({ added: count((job) => job.state === "done" && !isDuplicate(job)), duplicates: count(isDuplicate),
            failed: count(({ state }) => state === "failed"), cancelled: count(({ state }) => state === "cancelled") }), showActivity);
    }
}

/** Says the same as for a file that is uploaded. */
async function showOne(job) {
    const name = fileOf(job);
    if (job.state === "cancelled") {
        toast(message("import.cancelled"));
    } else if (job.state === "failed") {
        toast(message("computer.failed", { name, reason: failureOf(job).replaceAll("`", "") }), showActivity);
    } else {
        const archive = job.archive && await api.details({ kind: "archive", id: job.archive }).catch(() => null);
        toast(addedText(name, { archive: archive ?? undefined, duplicate: isDuplicate(job) }),
            archive && { text: message("import.open"), onChosen: () => navigate(tabURL({ kind: "archive", id: archive.id })) });
    }
}
