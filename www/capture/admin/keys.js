/** The users, and the keys of devices. */
import { showDialog } from "../../app/components/dialog.js";
import { announce, make, plain, setText } from "../../app/core/dom.js";
import { day } from "../../app/core/format.js";
import { message } from "../../app/core/i18n.js";
import { ago } from "../state-texts.js";
import * as api from "./api.js";
import { createList, makeRow, rowButton } from "./parts.js";

/**
 * @param {{onChanged: () => void}} host
 * @returns {{show: (keys: import("./api.js").Key[], users: import("./api.js").User[]) => void}}
 */
export function createKeys({ onChanged }) {
    const revoked = document.getElementById("keys-revoked");
    const known = document.getElementById("known-users");
    const idOf = ({ id }) => id;
    const users = createList({
        container: document.getElementById("users-list"), label: message("admin.users.title"), none: message("admin.users.none"),
        idOf: ({ username }) => username, create: createUser,
    });
    const active = createList({
        container: document.getElementById("keys-list"), label: message("admin.keys.active"), none: message("admin.keys.none"),
        idOf, create: (key) => createKey(key, onChanged),
    });
    const ended = createList({
        container: revoked.querySelector("div"), label: message("admin.keys.revoked"), none: "", idOf, create: (key) => createKey(key, null),
    });

    function show(keys, everyone) {
        users.show(everyone);
        active.show(keys.filter((key) => key.revoked_at === null));
        const old = keys.filter((key) => key.revoked_at !== null);
        ended.show(old);
        revoked.hidden = old.length === 0;
        setText(revoked.querySelector("summary"), message("admin.keys.revoked-count", { n: old.length }));
        const names = everyone.map(({ username }) => username);
        if (names.join() !== [...known.children].map(({ value }) => value).join()) {
            known.replaceChildren(...names.map((value) => make("option", { value })));
        }
    }

    return { show };
}

function createUser({ username }) {
    const facts = make("p", { class: "quiet" });
    return {
        element: makeRow(make("strong", { text: plain(username, 100) }), [facts]),
        update: (user) => setText(facts, message("admin.users.facts", { n: user.downloads, day: day(user.created_at) })),
    };
}

function createKey(first, onChanged) {
    const name = plain(first.name, 100);
    const facts = make("p", { class: "quiet" });

    function update(key) {
        const who = key.admin ? message("admin.keys.administrator") : key.username ? message("admin.keys.user", { user: plain(key.username, 100) })
            : message("admin.keys.everyone");
        const time = key.revoked_at ? message("admin.keys.revoked-at", { day: day(key.revoked_at) })
            : key.last_used_at ? message("admin.keys.used", { time: ago(key.last_used_at) }) : message("admin.keys.unused");
        setText(facts, [who, message("admin.keys.made", { day: day(key.created_at) }), time].join(" · "));
    }

    async function revoke() {
        const chosen = await showDialog({
            title: message("admin.keys.revoke-title", { name }), body: [make("p", { text: message("admin.keys.revoke-text") })],
            action: { value: "revoke", text: message("admin.keys.revoke"), isDanger: true, failure: message("admin.keys.revoke-failed"),
                run: () => api.revokeKey(first.id) },
        });
        if (!chosen) return;
        announce(message("admin.keys.revoked-announced", { name }));
        onChanged();
    }

    const actions = onChanged ? [rowButton(message("admin.keys.revoke-ask"), name, revoke)] : [];
    return { element: makeRow(make("strong", { dir: "auto", text: name }), [facts], actions), update };
}
