/** A row of the list of downloads. It is updated in place, so the focus and an open log stay. */
import { errorBlock, sentence, withCode } from "/app/components/messages.js";
import { announce, arrange, make, plain } from "/app/core/dom.js";
import { moment } from "/app/core/format.js";
import { message } from "/app/core/i18n.js";
import { plainURL } from "/app/core/text.js";
import * as api from "./api.js";
import { key } from "./connection.js";
import { createLog } from "./log.js";
import { confirmRemoval } from "./removal.js";
import { adviceText, ago, canRetry, isOpen, isRunning, percentOf, progressText, stateText } from "./state-texts.js";
import { isReplayURL, siteOf } from "./urls.js";

const endingOf = /\.([a-z0-9]+)$/i;
const played = new Set(["mp4", "m4v", "mkv", "webm", "mov", "mp3", "m4a", "aac", "wav", "flac", "opus", "ogg"]);

/**
 * @param {import("./api.js").Download} download
 * @returns {string} its title, or its URL
 */
export const nameOf = ({ title, url }) => plain(title) || plainURL(url, 120);

/** Sets a text that differs from the present one. Screen readers and selections don't notice the rest. */
function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

/**
 * @param {import("./api.js").Download} first
 * @param {{onChanged: () => void, onRemoved: () => void}} host
 */
export function createRow(first, { onChanged, onRemoved }) {
    const id = first.download_id;
    let download = first;
    let shownState = "";
    const title = make("h3", { id: `title-${id}`, dir: "auto", tabindex: "-1" });
    const facts = make("p", { class: "quiet facts" });
    const state = make("p", { class: "state" });
    const numbers = make("span", { class: "quiet" });
    const stateWords = make("span");
    state.append(stateWords, numbers);
    const bar = make("progress", { max: 100, "aria-labelledby": title.id });
    const note = make("div", { class: "message" });
    const problems = make("div");
    const actions = make("div", { class: "actions" });
    const details = make("div", { class: "details", id: `log-${id}`, hidden: true });
    const detailList = make("dl", {});
    details.append(detailList);
    let log = null;

    const button = (text, act, style = "") => make("button", { type: "button", class: style, text, on: { click: act } });
    const link = (text, properties) => make("a", { class: "button", text, ...properties });
    const newTab = { target: "_blank", rel: "noreferrer" };
    const path = api.filePath(id);
    const controls = {
        cancel: button(message("capture.row.cancel"), () => act(() => api.cancel(id), message("capture.row.cant-cancel"))),
        retry: button(message("capture.row.retry"), () => act(() => api.retry(id), message("capture.row.cant-retry"))),
        play: link(message("capture.row.play"), { href: path, ...newTab }),
        pdf: link(message("capture.row.pdf"), { href: path, ...newTab }),
        file: link(message("capture.row.file"), { href: path, download: true }),
        library: link(message("capture.row.library"), {}),
        log: button(message("capture.row.details"), toggleLog, "quiet-button"),
        remove: button(message("capture.row.remove"), remove, "quiet-button"),
    };
    for (const name of ["play", "pdf", "file"]) controls[name].addEventListener("click", openWithTicket);
    controls.log.setAttribute("aria-expanded", "false");
    controls.log.setAttribute("aria-controls", details.id);
    const element = make("li", { class: "download" },
        make("div", { class: "about" }, title, facts, state, bar, note, problems), actions, details);

    async function act(request, failure) {
        problems.replaceChildren();
        try {
            await request();
        } catch (error) {
            if (!api.isUnreachable(error)) problems.replaceChildren(errorBlock(error, failure));
        }
        onChanged();
    }

    /** A player can't send a key, so it gets a URL that needs none. */
    async function openWithTicket(event) {
        if (!key() || event.button !== 0) return;
        event.preventDefault();
        await act(async () => location.assign(await api.fileTicket(id)), message("capture.row.cant-open"));
    }

    async function remove() {
        const also = await confirmRemoval(download, nameOf(download));
        if (!also) return;
        await act(async () => {
            await api.remove(id, also);
            announce(message("capture.row.removed", { name: nameOf(download) }));
            onRemoved();
        }, message("capture.row.cant-remove"));
    }

    function toggleLog() {
        details.hidden = !details.hidden;
        controls.log.setAttribute("aria-expanded", String(!details.hidden));
        if (details.hidden) return;
        if (log === null) {
            log = createLog(id);
            details.append(log.element);
        }
        log.load();
    }

    function wantedControls() {
        const { state: now, file_path: file, replay_url: replayURL } = download;
        const ending = now === "completed" && file ? endingOf.exec(file)?.[1].toLowerCase() ?? "" : null;
        return [
            isOpen(download) && controls.cancel,
            canRetry(download) && controls.retry,
            ending !== null && (played.has(ending) ? controls.play : ending === "pdf" ? controls.pdf : controls.file),
            isReplayURL(replayURL) && controls.library,
            controls.log,
            !isOpen(download) && controls.remove,
        ].filter(Boolean);
    }

    function showControls(name) {
        const hadFocus = actions.contains(document.activeElement);
        if (isReplayURL(download.replay_url)) controls.library.href = download.replay_url;
        if (controls.log.dataset.name !== name) {
            for (const control of Object.values(controls)) control.setAttribute("aria-label", message("capture.row.control", { action: control.textContent, name }));
            controls.log.dataset.name = name;
        }
        arrange(actions, wantedControls());
        if (hadFocus && !actions.contains(document.activeElement)) actions.firstElementChild.focus();
    }

    function showBar() {
        const percent = percentOf(download);
        bar.hidden = !isRunning(download);
        if (percent === null) bar.removeAttribute("value");
        else bar.value = percent;
        bar.setAttribute("aria-valuetext", [stateWords.textContent, numbers.textContent].filter(Boolean).join(" "));
    }

    function showMessage() {
        const { error_message: text, state: now, waiting_for: reason } = download;
        // A queued download has the message of its last attempt.
        const isShown = now === "queued" ? reason === "retry" || reason === "site" : canRetry(download) && now !== "cancelled";
        const seen = now === "completed" ? [download.incomplete, download.replay_check] : [];
        const shown = isShown ? [text && sentence(plain(text, 1000)), adviceText(download)].filter(Boolean)
            : seen.map((line) => line && sentence(plain(line, 1000))).filter(Boolean);
        if (note.dataset.shown === shown.join("\n")) return;
        note.dataset.shown = shown.join("\n");
        note.replaceChildren(...shown.map((line) => make("p", {}, ...withCode(line))));
    }

    function showDetails() {
        const { url, file_path: file, submitted_at: added, completed_at: ended } = download;
        const rows = [["url", plainURL(url)], ["file", plain(file)], ["added", added && moment(added)],
            ["ended", ended && moment(ended)]].filter(([, value]) => value);
        if (detailList.dataset.shown === JSON.stringify(rows)) return;
        detailList.dataset.shown = JSON.stringify(rows);
        detailList.replaceChildren(...rows.map(([name, value]) =>
            make("div", {}, make("dt", { text: message(`capture.row.fact-${name}`) }), make("dd", { dir: name === "file" ? "auto" : "ltr", text: value }))));
    }

    /** Shows the present state. `missing` are the tools that aren't installed or don't start. */
    function update(now, missing) {
        download = now;
        const name = nameOf(now);
        const { text, kind } = stateText(now, missing);
        setText(title, name);
        title.className = plain(now.title) ? "" : "untitled";
        setText(facts, [siteOf(now.url) || plain(now.service, 40), now.username !== "defaultuser" && message("capture.row.for-user", { user: plain(now.username, 100) }),
            now.attempt > 1 && isRunning(now) && message("capture.row.attempt", { n: now.attempt }), ago(now.submitted_at)].filter(Boolean).join(" · "));
        stateWords.className = kind;
        if (stateWords.dataset.shown !== text) stateWords.replaceChildren(...withCode(text));
        stateWords.dataset.shown = text;
        setText(numbers, progressText(now));
        showBar();
        showMessage();
        showDetails();
        showControls(name);
        const hasChanged = shownState !== "" && shownState !== now.state;
        if (hasChanged) problems.replaceChildren();
        if (!details.hidden && (hasChanged || isRunning(now))) log.load();
        shownState = now.state;
    }

    return {
        element,
        update,
        get download() {
            return download;
        },
        /** Whether someone reads or uses it. */
        get isInUse() {
            return !details.hidden || element.contains(document.activeElement);
        },
        focus: () => title.focus(),
    };
}
