/** The cookies of each user, for sites that want a log-in. */
import { showDialog } from "../../app/components/dialog.js";
import { announce, make, plain, setText } from "../../app/core/dom.js";
import { size } from "../../app/core/format.js";
import { message, messageParts } from "../../app/core/i18n.js";
import { ago } from "../state-texts.js";
import * as api from "./api.js";
import { createList, isUserName, makeRow, refuseField, rowButton, runChange } from "./parts.js";

// The server's limit.
const bytesMax = 4 << 20;

/**
 * @param {{onChanged: () => void}} host
 * @returns {{show: (cookies: import("./api.js").Cookies[]) => void}}
 */
export function createCookies({ onChanged }) {
    const [form, user, text, file, problems, pick] = ["form", "user", "text", "file", "problems", "pick"]
        .map((name) => document.getElementById(`cookies-${name}`));
    const submit = form.querySelector("[type=submit]");
    document.getElementById("cookies-hint").replaceChildren(...messageParts("admin.cookies.hint"));
    const list = createList({
        container: document.getElementById("cookies-list"), label: message("admin.cookies.title"), none: message("admin.cookies.none"),
        idOf: ({ username }) => username, create: createRow,
    });

    pick.addEventListener("click", () => file.click());
    file.addEventListener("change", async () => {
        const [chosen] = file.files;
        // The same file can be chosen again.
        const end = () => { file.value = ""; };
        if (!chosen) return;
        problems.replaceChildren();
        if (chosen.size > bytesMax) {
            refuseField(text, problems, message("admin.cookies.too-large", { size: size(chosen.size) }));
            end();
            return;
        }
        try {
            text.value = await chosen.text();
            submit.focus();
            announce(message("admin.cookies.read", { name: plain(chosen.name, 100) }));
        } catch {
            refuseField(text, problems, message("admin.cookies.cant-read", { name: plain(chosen.name, 100) }));
        }
        end();
    });

    form.addEventListener("submit", (event) => {
        event.preventDefault();
        const name = user.value.trim() || "defaultuser";
        if (!isUserName(name)) {
            refuseField(user, problems, message("admin.users.wrong-name"));
        } else if (!text.value.trim()) {
            refuseField(text, problems, message("admin.cookies.nothing"));
        } else {
            runChange(submit, problems, message("admin.cookies.failed"), async () => {
                list.show(await api.setCookies(name, text.value));
                text.value = "";
                announce(message("admin.cookies.saved", { user: name }));
                onChanged();
            });
        }
    });

    function createRow({ username }) {
        const name = plain(username, 100);
        const facts = make("p", { class: "quiet" });

        async function remove() {
            const chosen = await showDialog({
                title: message("admin.cookies.remove-title", { user: name }), body: [make("p", { text: message("admin.cookies.remove-text") })],
                action: { value: "remove", text: message("admin.cookies.remove"), isDanger: true, failure: message("admin.cookies.remove-failed"),
                    run: () => api.removeCookies(username) },
            });
            if (!chosen) return;
            announce(message("admin.cookies.removed", { user: name }));
            onChanged();
        }

        return {
            element: makeRow(make("strong", { text: name }), [facts], [
                rowButton(message("admin.cookies.replace"), name, () => {
                    user.value = username;
                    text.focus();
                }),
                rowButton(message("admin.cookies.remove-ask"), name, remove),
            ]),
            update: (row) => setText(facts, message("admin.cookies.facts", { n: row.cookies, time: ago(row.changed_at) })),
        };
    }

    return { show: list.show };
}
