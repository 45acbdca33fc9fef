/** Spans of time as text. */
import { message } from "../core/i18n.js";
import { endsOf, periodText } from "../core/periods.js";

/**
 * @param {{after: string, before: string}} span
 * @returns {string} for example `May 2024`, `May 2024 – July 2024`
 */
export function spanText(span) {
    const [first, last] = endsOf(span);
    return first === last ? periodText(first) : message("span.from-to", { first: periodText(first), last: periodText(last) });
}
