/**
 * The URLs of the app, all with the path `/`. What is shown is in the fragment, so that no search or visited URL reaches a log.
 *
 *     /                                              the library
 *     /#q=WORDS&tag=TAG&site=HOST&year=2024&saved=URL&state=issues,damaged&sort=title&as=list
 *                                                    the library, filtered and sorted, as cards or as a list
 *     /#search=WORDS&in=ID&site=HOST&type=pdf        search results; also collection, lang, after and before
 *     /#activity, /#settings
 *     /?archive=/archives/NAME.wacz                  an archive's main page in the viewer
 *     /?archive=/archives/NAME.wacz#view=overview    an archive's own page; also pages, urls, files, timeline, details, report
 *     /?archive=/archives/NAME.wacz#view=pages&q=TEXT its list of pages; also sort, collapse, after and before
 *     /?archive=/archives/NAME.wacz#view=urls&q=TEXT its list of URLs; also match, type, status, method, after, before and
 *                                                    sort
 *     /?archive=/archives/NAME.wacz#url=URL&ts=TIME  a capture in the viewer; with words=WORDS, these are marked in it
 *     /?archive=/archives/NAME.wacz#compare=URL&a=TIME&b=TIME&as=text
 *                                                    two captures compared, as pages, text or source
 *     /?collection=ID                                a collection, with the same views and archives
 *
 * `&replay=ranges` or `&replay=lookups` after the archive sets the replay mode. It's kept in the URLs that are made from
 * there. A collection always replays by lookups. `routes.js` reads and makes these URLs; this module has only their types.
 */

/**
 * @typedef {{kind: "archive"|"collection", id: string}} Target an archive or a collection, which replays on its own origin
 * @typedef {{q?: string, tag?: string[], site?: string, year?: string, state?: string, sort?: string,
 *   saved?: string, as?: string}} LibraryFilter `saved`: a URL that archives were saved from
 * @typedef {{kind: "library", filter: LibraryFilter}} LibraryRoute
 * @typedef {{words: string, in?: string, collection?: string, site?: string, type?: string, lang?: string,
 *   after?: string, before?: string}} Search values with commas are lists of alternatives
 * @typedef {{kind: "search", search: Search}} SearchRoute
 * @typedef {{q?: string, match?: string, type?: string, status?: string, method?: string, after?: string,
 *   before?: string, sort?: "newest"|"oldest"|"largest"}} URLFilter
 * @typedef {{q?: string, sort?: "title"|"newest"|"oldest"|"url", after?: string, before?: string, collapse?: "url"}} PageFilter
 * @typedef {"overview"|"pages"|"urls"|"files"|"timeline"|"details"|"archives"|"report"} TargetTab
 * @typedef {{kind: "archive"|"collection", name: string, view: "main"|"page"|"compare"|TargetTab, url?: string,
 *   timestamp?: string, words?: string, a?: string, b?: string, as?: "pages"|"text"|"source", filter?: URLFilter & {sort?: string}}} TargetRoute
 * @typedef {{kind: "unknown", reason: string}} UnknownRoute
 */
