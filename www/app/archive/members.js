/** The archives of a collection: lists, adds and removes them. */
import "../messages/en/archive.js";
import { archiveMark } from "../components/archive-mark.js";
import { uniqueTitle, createTitles } from "../components/archive-name.js";
import { unavailabilityMark } from "../components/availability.js";
import { findingSummary, worstFinding } from "../components/findings.js";
import { errorBlock } from "../components/messages.js";
import { toast } from "../components/toast.js";
import { trustMark } from "../components/trust-mark.js";
import * as api from "../core/api.js";
import { make } from "../core/dom.js";
import { size } from "../core/format.js";
import { message } from "../core/i18n.js";
import { tabURL } from "../core/routes.js";
import { spaced } from "../core/text.js";
import { span } from "../core/times.js";

/**
 * @param {import("./archive-page.js").Context} context of a collection
 * @returns {import("./archive-page.js").Tab}
 */
export function createTab({ item: collection, onChanged }) {
    const problems = make("div");
    const ids = collection.members.map(({ id }) => id);
    const titles = createTitles(collection.members);
    const nameOf = (member) => uniqueTitle(member, titles);

    async function change(members) {
        try {
            onChanged(await api.edit(collection, { members }));
            return true;
        } catch (error) {
            problems.replaceChildren(errorBlock(error, message("members.failed")));
            return false;
        }
    }

    async function remove(member) {
        if (!await change(ids.filter((other) => other !== member.id))) return;
        toast(message("members.removed", { title: nameOf(member) }),
            { text: message("removal.undo"), onChosen: () => change(ids) });
    }

    async function add({ id, name }) {
        if (await change([...ids, id])) toast(message("members.added", { title: name }));
    }

    const element = make("section", { class: "members", "aria-labelledby": "members-title" },
        make("h2", { id: "members-title", class: "visually-hidden", text: message("members.title") }),
        collection.members.length > 0 ? make("ul", {}, ...collection.members.map((member) => memberRow(member, nameOf(member), remove)))
            : make("p", { class: "quiet", text: message("members.none") }),
        problems,
        addForm(ids, add));
    return { element, close: () => {} };
}

function memberRow(member, title, onRemove) {
    const unavailable = unavailabilityMark(member);
    const issues = findingSummary(member.findingCounts);
    return make("li", {},
        archiveMark(member),
        make("div", { class: "about" },
            make("a", { href: tabURL(member), dir: "auto", text: title }),
            make("p", { class: "quiet" }, ...spaced([span(member.firstCapture, member.lastCapture),
                message("count.captures", { n: member.captureCount ?? 0 }), size(member.size)].filter(Boolean).join(" · "),
            unavailable && make("span", { class: "mark warning", text: unavailable }),
            issues && make("a", { class: `mark ${worstFinding(member.findingCounts)}`, href: tabURL(member, "details"), text: issues }),
            !unavailable && trustMark(member, { isInList: true })))),
        make("button", { type: "button", class: "quiet-button", text: message("members.remove"),
            "aria-label": message("members.remove-one", { title }), on: { click: () => onRemove(member) } }));
}

/** Returns a form that adds another archive, hidden until the other archives are listed. */
function addForm(ids, onAdd) {
    const choice = make("select", { id: "add-member" });
    const form = make("form", { class: "add-member", hidden: true }, make("label", { for: choice.id, text: message("members.add-label") }),
        make("div", { class: "joined" }, choice, make("button", { type: "submit", text: message("members.add") })));
    (async () => {
        const all = await api.archives();
        const titles = createTitles(all);
        const others = all.filter(({ id }) => !ids.includes(id)).map((one) => ({ id: one.id, name: uniqueTitle(one, titles) }));
        choice.replaceChildren(...others.map(({ id, name }) => make("option", { value: id, text: name })));
        form.hidden = others.length === 0;
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            onAdd(others.find(({ id }) => id === choice.value));
        });
    })().catch((error) => form.replaceWith(errorBlock(error, message("members.cant-list"))));
    return form;
}
