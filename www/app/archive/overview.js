/** The overview of an archive or collection: its main page, notes, sites, months and types. */
import "../messages/en/archive.js";
import { archiveMark } from "../components/archive-mark.js";
import { isUnavailable } from "../components/availability.js";
import { barChart, listOfBars } from "../components/bars.js";
import { errorBlock } from "../components/messages.js";
import { tagList } from "../components/tag-list.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { make, plain } from "../core/dom.js";
import { moment, number } from "../core/format.js";
import { message } from "../core/i18n.js";
import { mainURL, tabURL } from "../core/routes.js";
import { breakable, plainLines, plainURL } from "../core/text.js";
import { timeOf } from "../core/times.js";
import { periodText, shortPeriodText, spanOf, withGaps } from "../core/periods.js";
import { typeName } from "./type-names.js";

const slowMilliseconds = 150;
const sitesShown = 8;
const [monthsMax, yearsMax] = [24, 30];

/**
 * @param {import("./archive-page.js").Context} context
 * @returns {import("./archive-page.js").Tab}
 */
export function createTab({ item, counts, edit }) {
    const facts = make("div", { class: "overview-counts" });
    const element = make("section", { class: "overview", "aria-labelledby": "overview-title" },
        make("h2", { id: "overview-title", class: "visually-hidden", text: message("tab.overview") }),
        make("div", { class: "overview-about" }, mainPage(item), about(item, edit)), facts);
    let hasFailed = false;
    const server = followServer({ onBack: () => hasFailed && load() });

    async function load() {
        hasFailed = false;
        const slow = setTimeout(() => facts.replaceChildren(...skeleton()), slowMilliseconds);
        try {
            const found = await counts();
            facts.replaceChildren(...(found?.captures > 0 ? [sites(item, found), months(item, found), types(item, found)] : []));
        } catch (error) {
            hasFailed = error.status === 0;
            facts.replaceChildren(errorBlock(error, message("overview.cant-count")));
        } finally {
            clearTimeout(slow);
        }
    }
    load();
    return { element, close: server.close };
}

const skeleton = () => [5, 8, 4].map((height) => {
    const block = make("div", { class: "skeleton", "aria-hidden": "true" });
    block.style.height = `${height}rem`;
    return block;
});

/** The page that Open leads to. Its title is in the page list. */
function mainPage(item) {
    const main = item.mainPage;
    if (!main) return null;
    const url = plainURL(main.url, 400);
    const title = make("span", { class: "name", dir: "auto", text: url });
    const time = timeOf(main.timestamp);
    const contents = [archiveMark(item, "large"), make("span", { class: "about" }, title,
        make("span", { class: "url", dir: "ltr", text: url }),
        time && make("time", { datetime: time, text: moment(time) }))];
    api.pages(item, { q: main.url }, { limit: 20 }).then(({ pages }) => {
        const page = pages.find((one) => one.url === main.url && (!main.timestamp || one.timestamp === main.timestamp))
            ?? pages.find((one) => one.url === main.url);
        if (plain(page?.title)) title.textContent = plain(page.title, 200);
    }, () => {
        // The URL stays in the title's place.
    });
    return make("div", { class: "main-page" }, make("h3", { text: message("overview.main-page") }),
        isUnavailable(item) ? make("span", { class: "main-card" }, ...contents)
            : make("a", { class: "main-card", href: mainURL(item) }, ...contents));
}

function about(item, edit) {
    const description = plain(item.description, 2000);
    const notes = plainLines(item.notes);
    const tags = tagList(item.tags);
    return make("div", { class: "metadata" },
        description && make("p", { class: "description", dir: "auto", text: description }),
        tags,
        notes && make("div", {}, make("h3", { text: message("overview.notes") }), make("p", { class: "notes", dir: "auto", text: notes })),
        make("button", { type: "button", class: "plain edit-metadata", text: message(notes || tags ? "edit.tags-and-notes" : "edit.add-tags-and-notes"),
            on: { click: edit } }));
}

function sites(item, { sites: all, otherSites }) {
    const rest = all.slice(sitesShown);
    const row = ({ host, captures }) => make("li", {},
        make("a", { href: tabURL(item, "urls", urlsOf(host)), dir: "ltr" }, ...breakable(plainURL(host, 200))), " ",
        make("span", { class: "count", text: number(captures) }));
    return make("section", { "aria-labelledby": "sites-title" },
        make("h3", { id: "sites-title", text: message("overview.sites") }),
        make("ul", { class: "counted" }, ...all.slice(0, sitesShown).map(row)),
        rest.length > 0 && make("details", {}, make("summary", { text: message("overview.more-sites", { n: rest.length }) }),
            make("ul", { class: "counted" }, ...rest.map(row))),
        otherSites.captures > 0 && make("p", { class: "quiet", text: message("overview.other-sites", { n: otherSites.captures }) }));
}

/** A site without a host is a scheme. */
const urlsOf = (host) => host.endsWith(":") ? { q: `${host}*`, match: "pattern" } : { q: `${host}/`, match: "prefix" };

function months(item, { months: all }) {
    const byMonth = all.map(({ month, captures }) => ({ period: month.replace("-", ""), captures }));
    const everyMonth = withGaps(byMonth, monthsMax);
    const periods = everyMonth ?? withGaps(yearsOf(byMonth), yearsMax) ?? yearsOf(byMonth);
    const entries = periods.map(({ period, captures }, index) => ({
        short: shortPeriodText(period),
        year: everyMonth && (index === 0 || period.endsWith("01")) ? period.slice(0, 4) : "",
        text: message("chart.bar", { period: periodText(period), n: captures }),
        count: captures,
        href: tabURL(item, "timeline", spanOf(period)),
    }));
    const title = message(everyMonth ? "overview.months" : "overview.years");
    return make("section", { "aria-labelledby": "months-title" }, make("h3", { id: "months-title", text: title }),
        barChart(title, entries), listOfBars(entries));
}

/**
 * @param {{period: string, captures: number}[]} months
 * @returns {{period: string, captures: number}[]}
 */
export function yearsOf(months) {
    const years = new Map();
    for (const { period, captures } of months) {
        years.set(period.slice(0, 4), (years.get(period.slice(0, 4)) ?? 0) + captures);
    }
    return [...years].map(([period, captures]) => ({ period, captures }));
}

function types(item, { types: all }) {
    return make("section", { "aria-labelledby": "types-title" },
        make("h3", { id: "types-title", text: message("overview.types") }),
        make("ul", { class: "type-counts" }, ...all.map(({ type, captures }) => make("li", {},
            make("a", { href: tabURL(item, "urls", { type }) }, typeName(type), " ", make("span", { class: "count", text: number(captures) }))))));
}
