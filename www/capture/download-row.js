/** A row of the list of downloads. It is updated in place, so the focus and an open log stay. */
import { copyText } from "../app/components/copy-text.js";
import { errorBlock, sentence, withCode } from "../app/components/messages.js";
import { announce, arrange, make, plain, setText } from "../app/core/dom.js";
import { moment } from "../app/core/format.js";
import { message } from "../app/core/i18n.js";
import { plainURL } from "../app/core/text.js";
import * as api from "./api.js";
import { key } from "./connection.js";
import { createLog } from "./log.js";
import { lookAt } from "./look.js";
import { preferences } from "./preferences.js";
import { createPlayer } from "./preview.js";
import { confirmRemoval } from "./removal.js";
import { serviceIcon } from "./service-icon.js";
import { adviceText, ago, canRetry, choicesText, isOpen, isRunning, percentOf, progressText, secondTryText, stateText } from "./state-texts.js";
import { onSwipe } from "./swipe.js";
import { isReplayURL, siteOf } from "./urls.js";

const endingOf = /\.([a-z0-9]+)$/i;
const played = new Set(["mp4", "m4v", "mkv", "webm", "mov", "mp3", "m4a", "aac", "wav", "flac", "opus", "ogg"]);

/** Whether it's a file, without a page. */
const isDocument = ({ genre }) => genre === "pdf" || genre === "ebook";

/**
 * @param {import("./api.js").Download} download
 * @returns {string} its title, or its URL
 */
export const nameOf = ({ title, url }) => plain(title) || plainURL(url, 120);

let count = 0;

/**
 * @param {import("./api.js").Download} first
 * @param {{onChanged: () => void, onRemoved: () => void, onShareAgain: (download: import("./api.js").Download) => void}} host
 */
export function createRow(first, { onChanged, onRemoved, onShareAgain }) {
    const id = first.download_id;
    // Two lists can have the same download.
    const name = `${id}-${++count}`;
    let download = first;
    let shownState = "";
    const title = make("h3", { id: `title-${name}`, dir: "auto", tabindex: "-1" });
    const facts = make("p", { class: "quiet facts" });
    const state = make("p", { class: "state" });
    const numbers = make("span", { class: "quiet" });
    const stateWords = make("span");
    state.append(stateWords);
    const progress = make("div", { id: `progress-${name}`, class: "progress quiet", hidden: true });
    const mark = make("span", { class: "mark" }, serviceIcon(first));
    const player = createPlayer(id, { onClosed: onChanged });
    let isProgressShown = preferences().isProgressShown;
    const bar = make("progress", { max: 100, "aria-labelledby": title.id });
    progress.append(bar, numbers);
    const note = make("div", { class: "message" });
    const problems = make("div");
    const actions = make("div", { class: "actions" });
    const details = make("div", { class: "details", id: `log-${name}`, hidden: true });
    const detailList = make("dl", {});
    const button = (text, act, style = "") => make("button", { type: "button", class: style, text, on: { click: act } });
    details.append(detailList, make("p", { class: "actions" },
        button(message("capture.row.copy"), () => copyText(download.url), "quiet-button"),
        button(message("capture.row.share-again"), () => onShareAgain(download), "quiet-button")));
    let log = null;

    const link = (text, properties) => make("a", { class: "button", text, ...properties });
    const newTab = { target: "_blank", rel: "noreferrer" };
    const path = api.filePath(id);
    const controls = {
        cancel: button(message("capture.row.cancel"), () => act(() => api.cancel(id), message("capture.row.cant-cancel"))),
        retry: button(message("capture.row.retry"), () => act(() => api.retry(id), message("capture.row.cant-retry"))),
        progress: button("", toggleProgress, "quiet-button"),
        play: link(message("capture.row.play"), { href: path, ...newTab }),
        watch: button(message("capture.row.watch"), () => act(() => player.open(download), message("capture.row.cant-open")), "primary"),
        pdf: link(message("capture.row.pdf"), { href: path, ...newTab }),
        file: link(message("capture.row.file"), { href: path, download: true }),
        look: button(message("capture.row.look"), () => act(() => lookAt(id, nameOf(download)), message("capture.row.cant-look"))),
        archive: link(message("capture.row.archive"), { href: api.archivePath(id), download: true }),
        library: link(message("capture.row.library"), {}),
        log: button(message("capture.row.details"), toggleLog, "quiet-button"),
        remove: button(message("capture.row.remove"), remove, "quiet-button"),
    };
    for (const each of ["play", "pdf", "file"]) controls[each].addEventListener("click", openWithTicket);
    controls.archive.addEventListener("click", saveArchive);
    controls.progress.setAttribute("aria-controls", progress.id);
    controls.log.setAttribute("aria-expanded", "false");
    controls.log.setAttribute("aria-controls", details.id);
    const element = make("li", { class: "download" },
        mark, make("div", { class: "about" }, title, facts, state, progress, note, problems), actions, player.element, details);
    title.addEventListener("click", toggleLog);
    element.addEventListener("keydown", (event) => {
        if (event.key === "Delete" && !isOpen(download) && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) remove();
    });
    onSwipe(element, () => !isOpen(download) && remove());

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

    /** A link can't send a key either, so the browser collects the archive first. */
    async function saveArchive(event) {
        if (!key()) return;
        event.preventDefault();
        await act(() => api.saveWithKey(api.archivePath(id), `${download.archive || id}.wacz`), message("capture.row.cant-save"));
    }

    function toggleProgress() {
        isProgressShown = !isProgressShown;
        showBar();
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
            isRunning(download) && controls.progress,
            isOpen(download) && controls.cancel,
            now === "preview_ready" && controls.watch,
            canRetry(download) && controls.retry,
            ending !== null && (played.has(ending) ? controls.play : ending === "pdf" ? controls.pdf : controls.file),
            ending !== null && (played.has(ending) || ending === "pdf") && controls.file,
            now === "completed" && download.archive && !isReplayURL(replayURL) && !isDocument(download) && controls.look,
            now === "completed" && download.archive && controls.archive,
            isReplayURL(replayURL) && controls.library,
            controls.log,
            !isOpen(download) && controls.remove,
        ].filter(Boolean);
    }

    function showControls(shownName) {
        const hadFocus = actions.contains(document.activeElement);
        if (isReplayURL(download.replay_url)) controls.library.href = download.replay_url;
        if (controls.log.dataset.name !== shownName) {
            for (const control of Object.values(controls)) label(control, shownName);
            controls.log.dataset.name = shownName;
        }
        arrange(actions, wantedControls());
        if (hadFocus && !actions.contains(document.activeElement)) actions.firstElementChild.focus();
    }

    const label = (control, shownName) => control.setAttribute("aria-label", message("capture.row.control", { action: control.textContent, name: shownName }));

    function showBar() {
        const percent = percentOf(download);
        progress.hidden = !isProgressShown || !isRunning(download);
        const text = message(isProgressShown ? "capture.row.hide-progress" : "capture.row.show-progress");
        controls.progress.setAttribute("aria-expanded", String(isProgressShown));
        if (controls.progress.textContent !== text) {
            controls.progress.textContent = text;
            label(controls.progress, nameOf(download));
        }
        if (percent === null) bar.removeAttribute("value");
        else bar.value = percent;
        bar.setAttribute("aria-valuetext", [stateWords.textContent, numbers.textContent].filter(Boolean).join(" "));
    }

    function showMessage() {
        const { error_message: text, state: now, waiting_for: reason } = download;
        // A queued download has the message of its last attempt.
        const isShown = now === "queued" ? reason === "retry" || reason === "site" : canRetry(download) && now !== "cancelled";
        const seen = now === "completed" ? [download.incomplete, download.replay_check] : [];
        const secondTry = secondTryText(download);
        const lines = isShown || secondTry ? [secondTry, isShown && text && sentence(plain(text, 1000)), isShown && adviceText(download)]
            : seen.map((line) => line && sentence(plain(line, 1000)));
        const shown = lines.filter(Boolean);
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
        if (now.service !== download.service || now.genre !== download.genre) mark.replaceChildren(serviceIcon(now));
        download = now;
        const shownName = nameOf(now);
        const { text, kind } = stateText(now, missing);
        setText(title, shownName);
        title.className = plain(now.title) ? "" : "untitled";
        setText(facts, [siteOf(now.url) || plain(now.service, 40), now.username !== "defaultuser" && message("capture.row.for-user", { user: plain(now.username, 100) }),
            choicesText(now), now.attempt > 1 && isRunning(now) && message("capture.row.attempt", { n: now.attempt }), ago(now.submitted_at)].filter(Boolean).join(" · "));
        stateWords.className = kind;
        if (stateWords.dataset.shown !== text) stateWords.replaceChildren(...withCode(text));
        stateWords.dataset.shown = text;
        setText(numbers, progressText(now));
        showBar();
        showMessage();
        showDetails();
        showControls(shownName);
        player.update(now);
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
            return !details.hidden || player.isOpen || element.contains(document.activeElement);
        },
        focus: () => title.focus(),
    };
}
