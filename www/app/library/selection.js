/** Selected archives, and what can be done with all of them. */
import "../messages/en/library.js";
import "../messages/en/library-actions.js";
import { showDialog } from "../components/dialog.js";
import { errorBlock } from "../components/messages.js";
import { confirmRemoval, removeItem } from "../components/removal.js";
import { tagEditor } from "../components/tag-editor.js";
import * as api from "../core/api.js";
import { announce, make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";

const archivesPerRequest = 1000;

/**
 * @param {object} host
 * @param {() => void} host.onChanged the selection or the archives changed
 * @param {() => void} host.onFocusLost the bar with the focus is gone
 * @param {() => import("../core/route-types.js").LibraryFilter} host.filter of the list
 * @param {(collection: import("../core/api.js").Collection) => void} host.onCreated
 */
export function createSelection({ onChanged, onFocusLost, filter, onCreated }) {
    const chosen = new Map();
    let isOpen = false;
    let stop = null;
    const count = make("p", { class: "selected-count", role: "status" });
    const problems = make("div");
    const button = (key, onChosen, name = "") => make("button", { type: "button", class: name, text: message(key), on: { click: onChosen } });
    const actions = [
        button("selection.tags", () => editTags([...chosen.values()])),
        button("selection.new-collection", () => makeCollection([...chosen.values()])),
        button("selection.add-to-collection", () => addToCollection([...chosen.values()])),
        button("selection.verify", () => verify([...chosen.values()])),
        button("selection.remove", () => remove([...chosen.values()]), "danger"),
    ];
    const line = make("div", { class: "select-line" }, count, button("selection.all", selectAll, "plain"), ...actions,
        button("selection.end", end, "plain"));
    const element = make("section", { class: "select-bar", hidden: true, "aria-label": message("selection.title") }, problems, line);

    new ResizeObserver(() => {
        const covered = getComputedStyle(element).position === "sticky" ? element.offsetHeight : 0;
        document.documentElement.style.setProperty("--select-bar-height", `${covered}px`);
    }).observe(element);

    function show() {
        const losesFocus = !isOpen && line.contains(document.activeElement);
        line.hidden = !isOpen;
        // What failed for one archive is shown without a selection, too.
        element.hidden = !isOpen && !problems.hasChildNodes();
        count.textContent = message("selection.count", { n: chosen.size });
        for (const action of actions) action.disabled = chosen.size === 0;
        onChanged();
        if (losesFocus) onFocusLost();
    }

    function select(archive, isChosen = true) {
        isOpen = true;
        if (isChosen) chosen.set(archive.id, archive);
        else chosen.delete(archive.id);
        show();
    }

    async function selectAll() {
        try {
            for (let offset = 0, total = 1; offset < total; offset += archivesPerRequest) {
                const part = await api.filteredArchives(filter(), { offset, limit: archivesPerRequest });
                for (const archive of part.items) chosen.set(archive.id, archive);
                ({ total } = part);
            }
            show();
        } catch (error) {
            problems.replaceChildren(errorBlock(error, message("library.cant-read")));
        }
    }

    function end() {
        stop?.abort();
        chosen.clear();
        problems.replaceChildren();
        isOpen = false;
        show();
    }

    /**
     * Does something with one archive after the other, and shows how far it is.
     *
     * @returns {Promise<boolean>} whether all succeeded; those that failed stay selected
     */
    async function each(archives, key, action) {
        stop?.abort();
        const { signal } = stop = new AbortController();
        const progress = make("p", { class: "quiet" });
        problems.replaceChildren(progress, button("dialog.cancel", () => stop?.abort(), "plain"));
        show();
        let done = 0;
        const failures = [];
        for (const archive of archives) {
            if (signal.aborted) break;
            progress.textContent = message(key, { done, n: archives.length });
            try {
                await action(archive);
                chosen.delete(archive.id);
            } catch (error) {
                failures.push([archive, error]);
                // The others would fail in the same way.
                if (error.status === 0) break;
            }
            done += 1;
        }
        const [first] = failures;
        if (failures.length === 0 && !signal.aborted && chosen.size === 0) isOpen = false;
        problems.replaceChildren(...(first ? [errorBlock(first[1], message("selection.failed", { n: failures.length, title: plain(first[0].title, 100) })),
            isOpen ? "" : button("toast.dismiss", end)] : []));
        announce(message("selection.done", { n: done - failures.length }));
        show();
        return failures.length === 0;
    }

    /** A tag that is removed goes from all archives, and one that is typed to all. */
    async function editTags(archives) {
        const present = [...new Set(archives.flatMap(({ tags = [] }) => tags))].sort();
        const editor = tagEditor(present);
        const answer = await showDialog({
            title: message("selection.tags-title", { n: archives.length }),
            class: "edit-dialog",
            body: [archives.length > 1 && make("p", { class: "quiet", text: message("selection.tags-note") }), ...editor.elements].filter(Boolean),
            action: { value: "save", text: message("edit.save") },
        });
        if (answer !== "save") return;
        const { tags: now, typed } = editor.read();
        const removed = present.filter((tag) => !now.includes(tag));
        if (typed.length + removed.length === 0) return;
        await each(archives, "selection.tagging", (archive) => {
            const tags = [...new Set([...archive.tags ?? [], ...typed])].filter((tag) => !removed.includes(tag));
            return api.edit({ kind: "archive", id: archive.id }, { tags });
        });
    }

    async function makeCollection(archives) {
        const input = make("input", { type: "text", id: "new-collection-title", required: true, maxlength: 300, autocomplete: "off", dir: "auto" });
        const answer = await showDialog({
            title: message("selection.new-collection-title"),
            body: [make("p", { class: "quiet", text: message("selection.new-collection-note") }),
                make("label", { for: input.id, text: message("selection.collection-title") }), input],
            action: { value: "create", text: message("selection.create-collection") },
        });
        if (answer !== "create" || !input.value.trim()) return;
        try {
            const collection = await api.createCollection({ title: input.value, members: archives.map(({ id }) => id) });
            end();
            onCreated(collection);
        } catch (error) {
            problems.replaceChildren(errorBlock(error, message("selection.cant-create")));
        }
    }

    async function addToCollection(archives) {
        try {
            const collections = await api.collections();
            if (collections.length === 0) {
                await makeCollection(archives);
                return;
            }
            const choice = make("select", { id: "choose-collection" },
                ...collections.map(({ id, title }) => make("option", { value: id, text: plain(title, 100) || id })));
            const answer = await showDialog({ title: message("selection.add-title", { n: archives.length }),
                body: [make("label", { for: choice.id, text: message("selection.collection") }), choice],
                action: { value: "add", text: message("selection.add") } });
            const collection = collections.find(({ id }) => id === choice.value);
            if (answer !== "add" || !collection) return;
            const members = [...new Set([...collection.members, ...archives.map(({ id }) => id)])];
            const changed = await api.edit(collection, { members });
            end();
            onCreated(changed);
        } catch (error) {
            problems.replaceChildren(errorBlock(error, message("selection.cant-add")));
        }
    }

    const verify = (archives) => each(archives, "selection.verifying", (archive) => api.verify(archive));

    async function remove(archives) {
        const [first, other] = archives;
        if (!other) {
            if (await removeItem(first, { onRemoving: onChanged, onUndone: onChanged })) chosen.delete(first.id);
            show();
        } else if (await confirmRemoval(archives)) {
            await each(archives, "selection.removing", (archive) => api.remove({ kind: "archive", id: archive.id }));
        }
    }

    return {
        element,
        select,
        editTags,
        verify,
        remove,
        end,
        isSelected: (id) => chosen.has(id),

        /** @returns {import("../core/api.js").Archive[]} what is selected; else only this archive */
        orElse: (archive) => (chosen.size > 0 ? [...chosen.values()] : [archive]),

        get isOpen() {
            return isOpen;
        },

        begin() {
            isOpen = true;
            show();
        },
    };
}
