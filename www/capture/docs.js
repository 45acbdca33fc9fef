/** The page `/docs`: `/openapi.json` for people, with a form for each request that only reads. */
import "../app/messages/en/capture-docs.js";
import "../app/messages/en/capture.js";
import { make } from "../app/core/dom.js";
import { message, messageParts } from "../app/core/i18n.js";
import { heading, showDescription } from "../app/docs/api-docs.js";
import { createRequest } from "./api.js";
import { createKeyField } from "./docs-key.js";
import { createRequestForm } from "./docs-request.js";

const address = "/openapi.json";
const keyField = createKeyField();
// The description needs no key.
const send = createRequest(() => "");

const isEndless = ({ responses }) => "text/event-stream" in (responses[200]?.content ?? {});

showDescription({
    address,
    read: async () => (await send("GET", address)).value,
    sections: ({ tags }) => tags.map(({ name }) => ({ id: name.toLowerCase(), title: name, has: (operation) => operation.tags.includes(name) })),
    intro: messageParts("docs.capture-intro", {}, { a: (...text) => make("a", { href: address }, ...text) }),
    access: () => make("section", { "aria-labelledby": "access" }, heading(2, "access", message("docs.access")),
        make("p", {}, ...messageParts("docs.access-text")), keyField.element),
    errors: messageParts("docs.capture-errors"),
    headers: ({ security }) => (security.length > 0 ? '--header "Authorization: Bearer $KEY"' : ""),
    form: (operation) => (operation.method === "get" && !isEndless(operation) ? createRequestForm(operation, keyField) : null),
});
