/** The English texts of the list of captures in the viewer, sorted by key. `core/i18n.js` describes their form. */
import { addMessages } from "../../core/i18n.js";

addMessages({
    "captures.bar": "{period}: {n, plural, =0 {no captures} one {# capture} other {# captures}}",
    "captures.compare": "Compare what you choose with the capture shown",
    "captures.compare-closest": "Compare with closest capture",
    "captures.count": "{n, plural, one {# capture} other {# captures}}, {first} – {last}",
    "captures.counting": "Counting captures…",
    "captures.date": "Date",
    "captures.date-example": "3 May 2024",
    "captures.failed": "The captures can't be listed: {problem}",
    "captures.form": "answer to a form",
    "captures.go": "Open closest capture",
    "captures.more": "Show {n} more ({left} left)",
    "captures.next-month": "Next month",
    "captures.not-a-date": "Type a date such as 3 May 2024, May 2024 or 2024-05-03.",
    "captures.previous-month": "Previous month",
    "captures.repeats": "{n, plural, one {# capture} other {# captures}}, unchanged since {since}",
    "captures.shown": "shown",
    "captures.title": "Captures of this URL",
    "captures.unchanged": "unchanged since {since}",
    "captures.unchanged-note": "“Unchanged”: the index states the same digest as for the capture before.",
    "captures.utc": "Days and times are in UTC.",
    "captures.years": "Years",
});
