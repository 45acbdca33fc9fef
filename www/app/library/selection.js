/** Selected archives, and what can be done with all of them. */
import { showDialog } from "../components/dialog.js";
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { announce, make, plain } from "../core/dom.js";
import { size } from "../core/format.js";
import { message } from "../core/i18n.js";

/**
 * @param {object} host
 * @param {() => void} host.onChanged the selection or the archives changed
 * @param {() => Promise<import("../core/api.js").Archive[]>} host.all reads all archives that the list shows
 * @param {(collection: import("../core/api.js").Collection) => void} host.onCreated
 */
export function createSelection({ onChanged, all, onCreated }) {
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
    const element = make("section", { class: "select-bar", hidden: true, "aria-label": message("selection.title") },
        problems, make("div", { class: "select-line" }, count, button("selection.all", selectAll, "plain"), ...actions,
            button("selection.end", end, "plain")));

    function show() {
        element.hidden = !isOpen;
        count.textContent = message("selection.count", { n: chosen.size });
        for (const action of actions) action.disabled = chosen.size === 0;
        onChanged();
    }

    function select(archive, isChosen = true) {
        isOpen = true;
        if (isChosen) chosen.set(archive.id, archive);
        else chosen.delete(archive.id);
        show();
    }

    async function selectAll() {
        try {
            for (const archive of await all()) chosen.set(archive.id, archive);
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
        problems.replaceChildren(...(first ? [errorBlock(first[1], message("selection.failed", { n: failures.length, title: plain(first[0].title, 100) }))] : []));
        announce(message("selection.done", { n: done - failures.length }));
        if (failures.length === 0 && !signal.aborted && chosen.size === 0) isOpen = false;
        show();
        return failures.length === 0;
    }

    async function editTags(archives) {
        const known = await api.facets().then(({ tags }) => tags.map(({ value }) => value), () => []);
        const input = make("input", { type: "text", id: "bulk-tags", list: "known-tags", autocomplete: "off", dir: "auto" });
        const present = [...new Set(archives.flatMap(({ tags = [] }) => tags))].sort();
        const boxes = present.map((tag, index) => make("input", { type: "checkbox", id: `bulk-tag-${index}` }));
        const answer = await showDialog({
            title: message("selection.tags-title", { n: archives.length }),
            body: [
                make("label", { for: input.id, text: message("selection.tags-add") }), input,
                make("datalist", { id: "known-tags" }, ...known.map((tag) => make("option", { value: tag }))),
                make("p", { class: "quiet hint", text: message("selection.tags-hint") }),
                present.length > 0 && make("fieldset", {}, make("legend", { text: message("selection.tags-remove") }),
                    ...present.map((tag, index) => make("label", { class: "choice" }, boxes[index], make("span", { dir: "auto", text: plain(tag, 60) })))),
            ].filter(Boolean),
            action: { value: "save", text: message("selection.tags-save") },
        });
        const added = input.value.split(",").map((tag) => tag.trim()).filter(Boolean);
        const removed = present.filter((tag, index) => boxes[index].checked);
        if (answer !== "save" || added.length + removed.length === 0) return;
        await each(archives, "selection.tagging", (archive) => {
            const tags = [...new Set([...archive.tags ?? [], ...added])].filter((tag) => !removed.includes(tag));
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

    /** Asks, and says what is deleted from this computer. */
    async function remove(archives) {
        const stored = archives.filter(({ storage }) => storage !== "linked");
        const [first] = archives;
        const title = archives.length === 1 ? message("removal.title", { title: plain(first.title) || first.id })
            : message("removal.title-many", { n: archives.length });
        const bytes = size(stored.reduce((sum, archive) => sum + archive.size, 0));
        const answer = await showDialog({
            title,
            body: [
                stored.length > 0 && make("p", { text: message("removal.deletes", { n: stored.length, size: bytes }) }),
                archives.length > stored.length && make("p", { text: message("removal.linked", { n: archives.length - stored.length }) }),
                archives.length > 1 && make("ul", { class: "removed-titles" }, ...archives.slice(0, 10).map((archive) =>
                    make("li", { dir: "auto", text: plain(archive.title, 100) || archive.id })),
                archives.length > 10 && make("li", { text: message("removal.more", { n: archives.length - 10 }) })),
            ].filter(Boolean),
            action: { value: "remove", text: message("removal.remove"), isDanger: true },
        });
        if (answer !== "remove") return;
        await each(archives, "selection.removing", (archive) => api.remove({ kind: "archive", id: archive.id }));
    }

    return {
        element,
        select,
        editTags,
        remove,
        end,
        isSelected: (id) => chosen.has(id),

        get isOpen() {
            return isOpen;
        },

        begin() {
            isOpen = true;
            show();
        },
    };
}
