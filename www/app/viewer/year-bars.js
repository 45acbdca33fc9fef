/** The captures of each year as a bar, with one tab stop. */
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { withGaps } from "../core/periods.js";

const barsMax = 60;

/**
 * @param {Map<string, number>} counts the number of captures of each year that has any, in order
 * @param {(year: string) => void} onChosen
 * @returns {{element: HTMLElement, show: (year: string) => void}}
 */
export function createYearBars(counts, onChosen) {
    const counted = Array.from(counts, ([period, captures]) => ({ period, captures }));
    const years = withGaps(counted, barsMax) ?? counted;
    const most = counted.reduce((found, { captures }) => Math.max(found, captures), 1);
    const element = make("div", { class: "year-bars", role: "group", "aria-label": message("captures.years"), on: { keydown: move } });
    let buttons = [];

    function show(year) {
        const index = Math.max(0, years.findIndex(({ period }) => period >= year));
        const start = Math.max(0, Math.min(index - barsMax / 2, years.length - barsMax));
        const hadFocus = element.contains(document.activeElement);
        if (buttons.length === 0 || !buttons.some(({ dataset }) => dataset.year === year)) {
            buttons = years.slice(start, start + barsMax).map(barOf);
            element.replaceChildren(...buttons);
        }
        for (const button of buttons) {
            const isCurrent = button.dataset.year === year;
            button.tabIndex = isCurrent ? 0 : -1;
            if (isCurrent) button.setAttribute("aria-current", "true");
            else button.removeAttribute("aria-current");
        }
        if (hadFocus) focus();
        // When it's on the page
        queueMicrotask(reveal);
    }

    /** Scrolls the bars to the current one. */
    function reveal() {
        const current = element.querySelector("[aria-current]");
        if (!current) return;
        const before = current.offsetLeft - element.scrollLeft;
        if (before < 0 || before + current.offsetWidth > element.clientWidth) {
            element.scrollLeft = current.offsetLeft - (element.clientWidth - current.offsetWidth) / 2;
        }
    }

    function barOf({ period, captures }, index, { length }) {
        const label = message("captures.bar", { period, n: captures });
        const bar = make("span", { class: "bar" });
        // Few captures among many are still seen.
        bar.style.height = captures > 0 ? `${Math.max(6, captures / most * 100)}%` : "0";
        const isNamed = length <= 8 || index % Math.ceil(length / 6) === 0;
        return make("button", { type: "button", "data-year": period, "aria-label": label, title: label, on: { click: () => onChosen(period) } },
            make("span", { class: "track" }, bar), make("span", { class: "tick", text: isNamed ? period : "" }));
    }

    function move(event) {
        if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
        const current = buttons.indexOf(document.activeElement);
        const to = { ArrowRight: buttons[current + 1], ArrowLeft: buttons[current - 1], Home: buttons[0], End: buttons.at(-1) }[event.key];
        if (!to || current < 0) return;
        event.preventDefault();
        event.stopPropagation();
        to.focus();
        onChosen(to.dataset.year);
    }

    const focus = () => element.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });

    return { element, show };
}
