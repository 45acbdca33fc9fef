/** The timeline of an archive or collection: its years, the months of one, the days of one, and the captures of a day. */
import "../messages/en/archive.js";
import { barChart, listOfBars } from "../components/bars.js";
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { announce, make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { tabURL } from "../core/routes.js";
import { createDays } from "./days.js";
import { yearsOf } from "./overview.js";
import { endsOf, isIn, monthsOf, periodText, readSpan, shortPeriodText, spanOf, withGaps } from "../core/periods.js";
import { spanText } from "./span-text.js";

const yearsMax = 30;

/**
 * @param {import("./archive-page.js").Context} context
 * @returns {import("./archive-page.js").Tab}
 */
export function createTab({ item, counts }) {
    const place = make("div");
    const charts = make("div", { class: "timeline-charts" });
    const chosen = make("div", { class: "chosen-span" });
    const days = createDays(item, { onChosen: select });
    const element = make("section", { class: "timeline", "aria-labelledby": "timeline-title" },
        make("h2", { id: "timeline-title", class: "visually-hidden", text: message("tab.timeline") }), place, charts, chosen, days.element);
    let months = null;
    let filter = {};
    let hasFailed = false;
    // Where Shift and an arrow key began.
    let anchor = "";
    const server = followServer({ onBack: () => hasFailed && show(filter) });

    async function show(wanted) {
        filter = wanted;
        hasFailed = false;
        place.replaceChildren();
        try {
            const found = await counts();
            months = found?.months.map(({ month, captures }) => ({ period: month.replace("-", ""), captures })) ?? [];
        } catch (error) {
            hasFailed = error.status === 0;
            place.replaceChildren(errorBlock(error, message("overview.cant-count")));
            return;
        }
        if (months.length === 0) {
            place.replaceChildren(make("p", { class: "empty-list" }, message("timeline.none"), " ",
                make("a", { href: tabURL(item, "urls"), text: message("archive.browse-urls") })));
            return;
        }
        draw();
    }

    /** Shows a span, without an entry in the history for each key. */
    function select(span) {
        filter = span;
        history.replaceState(history.state, "", tabURL(item, "timeline", span));
        draw();
        announce(chosenText(span));
    }

    function draw() {
        const span = readSpan(filter);
        const year = (span?.after ?? months.at(-1).period).slice(0, 4);
        const years = withGaps(yearsOf(months), yearsMax) ?? yearsOf(months);
        const focus = document.activeElement?.closest(".bars a")?.dataset.period;
        const byMonth = new Map(months.map(({ period, captures }) => [period, captures]));
        const monthRow = monthsOf(year).map((period) => ({ period, captures: byMonth.get(period) ?? 0 }));
        charts.replaceChildren(...[years.length > 1 && chart("timeline.years", {}, years, span),
            chart("timeline.months", { year }, monthRow, span)].filter(Boolean));
        if (focus) charts.querySelector(`[data-period="${focus}"]`)?.focus({ preventScroll: true });
        showChosen(span);
        days.show(monthOf(span), span?.after.length === 8 ? span : null);
    }

    function chart(title, values, periods, span) {
        const isChosen = (period) => span !== null && (span.after.length <= period.length ? isIn(span, period)
            : period === span.after.slice(0, period.length));
        const entries = periods.map(({ period, captures }) => ({ period, short: shortPeriodText(period),
            text: message("chart.bar", { period: periodText(period), n: captures }), count: captures,
            href: tabURL(item, "timeline", spanOf(period)), isCurrent: isChosen(period) }));
        const text = message(title, values);
        const element = barChart(text, entries);
        const links = [...element.querySelectorAll("a")];
        links.forEach((link, index) => {
            link.dataset.period = entries[index].period;
        });
        rove(links);
        return make("div", {}, make("h3", { text }), element, listOfBars(entries));
    }

    /** One tab stop. The arrow keys choose a bar, and with Shift a span. */
    function rove(links) {
        const current = Math.max(0, links.findIndex((link) => link.hasAttribute("aria-current")));
        links.forEach((link, index) => {
            link.tabIndex = index === current ? 0 : -1;
            link.addEventListener("keydown", (event) => {
                const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: links.length - 1 }[event.key];
                if (to === undefined || event.ctrlKey || event.altKey || event.metaKey || !links[to]) return;
                event.preventDefault();
                if (!event.shiftKey || anchor.length !== link.dataset.period.length) anchor = event.shiftKey ? link.dataset.period : "";
                links[to].focus();
                const { period } = links[to].dataset;
                select(spanOf(event.shiftKey ? anchor : period, period));
            });
        });
    }

    const countOf = (span) => months.filter(({ period }) => isIn(span, period)).reduce((sum, { captures }) => sum + captures, 0);

    /** The numbers of captures are known by months. */
    const chosenText = (span) => span.after.length === 8 ? spanText(span)
        : message("timeline.chosen", { span: spanText(span), n: countOf(span) });

    function showChosen(span) {
        chosen.replaceChildren(...(span ? [make("h3", { text: chosenText(span) }),
            make("a", { class: "button", href: tabURL(item, "pages", span), text: message("timeline.show-pages") }),
            make("a", { class: "button", href: tabURL(item, "urls", span), text: message("archive.browse-urls") })]
            : [make("p", { class: "quiet", text: message("timeline.hint") })]));
    }

    return {
        element,
        show,
        close() {
            server.close();
            days.close();
        },
    };
}

/** Returns the month in which a span of days or a month is; empty for others. */
function monthOf(span) {
    if (!span || span.after.length === 4) return "";
    const [first, last] = endsOf(span);
    return first.slice(0, 6) === last.slice(0, 6) ? first.slice(0, 6) : "";
}
