/** The archives of a collection: which they are, one more, one less. */
import { unavailabilityMark } from "../components/availability.js";
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { announce, make, plain } from "../core/dom.js";
import { counted, size, span } from "../core/format.js";
import { pagesAddress } from "../core/routes.js";

/**
 * @param {import("../core/api.js").Collection} collection with its members as archives
 * @param {(now: import("../core/api.js").Collection) => void} onChanged
 * @returns {HTMLElement}
 */
export function memberSection(collection, onChanged) {
    const problems = make("div");
    const ids = collection.members.map(({ id }) => id);

    async function change(members, said) {
        try {
            const changed = await api.edit(collection, { members });
            announce(said);
            onChanged(changed);
        } catch (error) {
            problems.replaceChildren(errorBlock(error, "The collection was not changed"));
        }
    }

    const remove = ({ id, title }) =>
        change(ids.filter((other) => other !== id), `${plain(title)} is no longer in the collection.`);
    const add = ({ id, title }) => change([...ids, id], `${plain(title)} is in the collection now.`);
    return make("section", { class: "members", "aria-labelledby": "members-title" },
        make("h2", { id: "members-title", text: "Archives in this collection", tabindex: "-1" }),
        collection.members.length > 0 ? make("ul", {}, ...collection.members.map((member) => memberRow(member, remove)))
            : make("p", { class: "quiet", text: "None." }),
        problems,
        addForm(ids, add));
}

function memberRow(member, onRemove) {
    const title = plain(member.title) || member.id;
    const unavailable = unavailabilityMark(member);
    return make("li", {},
        make("div", {},
            make("a", { href: pagesAddress(member), text: title }),
            make("p", { class: "quiet" }, [span(member.firstCapture, member.lastCapture),
                counted(member.captureCount ?? 0, "capture"), size(member.size)].filter(Boolean).join(" · "),
            unavailable && make("span", { class: "mark warning", text: ` · ${unavailable}` }))),
        make("button", { type: "button", class: "quiet-button", text: "Take out",
            "aria-label": `Take ${title} out of the collection`, on: { click: () => onRemove(member) } }));
}

/** Shown once it is known which other archives there are. */
function addForm(ids, onAdd) {
    const choice = make("select", { id: "add-member" });
    const form = make("form", { class: "add-member", hidden: true }, make("label", { for: choice.id,
        text: "Another archive" }), make("div", { class: "joined" }, choice,
        make("button", { type: "submit", text: "Add to the collection" })));
    (async () => {
        const others = (await api.archives()).filter(({ id }) => !ids.includes(id));
        choice.replaceChildren(...others.map(({ id, title }) =>
            make("option", { value: id, text: plain(title, 100) || id })));
        form.hidden = others.length === 0;
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            onAdd(others.find(({ id }) => id === choice.value));
        });
    })().catch((error) => form.replaceWith(errorBlock(error, "The other archives could not be listed")));
    return form;
}
