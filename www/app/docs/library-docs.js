/** The page `/api/docs`: `/api/openapi.json` for people. */
import { make } from "../core/dom.js";
import { message, messageParts } from "../core/i18n.js";
import { read } from "../core/request.js";
import { heading, showDescription } from "./api-docs.js";

const address = "/api/openapi.json";
/** The section of each path, by what comes after `/api`. */
const sections = { archives: "archives", facets: "archives", imports: "archives", exports: "archives", collections: "collections",
    search: "search", suggest: "search", jobs: "jobs", events: "jobs" };
const sectionNames = ["archives", "collections", "captures", "search", "jobs", "server"];

const sectionOf = (path) => (path.startsWith("/c/") ? "captures" : sections[path.split("/")[2]] ?? "server");

showDescription({
    address,
    read,
    sections: () => sectionNames.map((id) => ({ id, title: message(`docs.section.${id}`), has: ({ path }) => sectionOf(path) === id })),
    intro: messageParts("docs.intro", {}, { a: (...text) => make("a", { href: address }, ...text) }),
    access: () => make("section", { "aria-labelledby": "changes" }, heading(2, "changes", message("docs.changes")),
        make("p", {}, ...messageParts("docs.changes-text"))),
    errors: messageParts("docs.errors-text"),
    headers: ({ security }, origin) => (security ? `--header 'Origin: ${origin}' --header "Replayhost-Token: $TOKEN"` : ""),
});
