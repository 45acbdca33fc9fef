/** The archives of a collection: lists, adds and removes them. */
import { unavailabilityMark } from "../components/availability.js";
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { announce, make, plain } from "../core/dom.js";
import { counted, size, span } from "../core/format.js";
import { tabURL } from "../core/routes.js";

/**
 * @param {import("../core/api.js").Collection} collection with its members as archives
 * @param {(now: import("../core/api.js").Collection) => void} onChanged
 * @returns {HTMLElement}
 */
export function memberSection(collection, onChanged) {
    const problems = make("div");
    const ids = collection.members.map(({ id }) => id);

    async function change(members, message) {
        try {
            const changed = await api.edit(collection, { members });
            announce(message);
            onChanged(changed);
        } catch (error) {
            problems.replaceChildren(errorBlock(error, "Couldn't change the collection"));
        }
    }

    const remove = ({ id, title }) =>
        change(ids.filter((other) => other !== id), `Removed ${plain(title)} from the collection.`);
    const add = ({ id, title }) => change([...ids, id], `Added ${plain(title)} to the collection.`);
    return make("section", { class: "members", "aria-labelledby": "members-title" },
        make("h2", { id: "members-title", text: "Archives in this collection", tabindex: "-1" }),
        collection.members.length > 0 ? make("ul", {}, ...collection.members.map((member) => memberRow(member, remove)))
            : make("p", { class: "quiet", text: "No archives." }),
        problems,
        addForm(ids, add));
}

function memberRow(member, onRemove) {
    const title = plain(member.title) || member.id;
    const unavailable = unavailabilityMark(member);
    return make("li", {},
        make("div", {},
            make("a", { href: tabURL(member), text: title }),
            make("p", { class: "quiet" }, [span(member.firstCapture, member.lastCapture),
                counted(member.captureCount ?? 0, "capture"), size(member.size)].filter(Boolean).join(" · "),
            unavailable && make("span", { class: "mark warning", text: ` · ${unavailable}` }))),
        make("button", { type: "button", class: "quiet-button", text: "Remove from collection",
            "aria-label": `Remove ${title} from the collection`, on: { click: () => onRemove(member) } }));
}

/** Returns a form that adds another archive, hidden until the other archives are listed. */
function addForm(ids, onAdd) {
    const choice = make("select", { id: "add-member" });
    const form = make("form", { class: "add-member", hidden: true }, make("label", { for: choice.id,
        text: "Add an archive" }), make("div", { class: "joined" }, choice,
        make("button", { type: "submit", text: "Add to collection" })));
    (async () => {
        const others = (await api.archives()).filter(({ id }) => !ids.includes(id));
        choice.replaceChildren(...others.map(({ id, title }) =>
            make("option", { value: id, text: plain(title, 100) || id })));
        form.hidden = others.length === 0;
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            onAdd(others.find(({ id }) => id === choice.value));
        });
    })().catch((error) => form.replaceWith(errorBlock(error, "Can't list the other archives")));
    return form;
}
