/** The English texts of the description of the API, sorted by key. `core/i18n.js` describes their form. */
import { addMessages } from "../../core/i18n.js";

addMessages({
    "docs.body": "Body",
    "docs.cant-read": "Can't read the description of the API",
    "docs.changes": "Requests that change something",
    "docs.changes-text": "These need the headers <code>Replayhost-Token</code> and <code>Origin</code>. The origin is that of this page. The token is in the file <code>server.json</code> in the store, and changes with each start of the server. The examples read it from the shell variable <code>TOKEN</code>.",
    "docs.contents": "Contents",
    "docs.default": "Default: {value}",
    "docs.errors": "Errors",
    "docs.errors-text": "An error below <code>/api</code> has this shape. Its media type is <code>application/problem+json</code>. Programs can rely on <code>code</code>; the other texts are for people.",
    "docs.example": "Example",
    "docs.field": "{type}{required, select, yes { · required} other {}}",
    "docs.intro": "This page describes the HTTP API of this server. For programs, the same description is in <a>openapi.json</a>.",
    "docs.objects": "Objects",
    "docs.parameter": "{place, select, path {path} query {query} header {header} other {{place}}} · {type}{required, select, yes { · required} other {}}",
    "docs.parameters": "Parameters",
    "docs.responses": "Responses",
    "docs.section.archives": "Archives",
    "docs.section.captures": "Captures",
    "docs.section.collections": "Collections",
    "docs.section.jobs": "Jobs",
    "docs.section.search": "Search",
    "docs.section.server": "Server",
    "docs.statuses": "What a status means",
    "docs.title": "API",
    "docs.values": "One of: {values}",
});
