import ArchiveStore
import ArgumentParser
import CommandSupport
import WebArchive

/// `replayhost search WORDS…`
struct SearchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Search the text of all pages.",
        discussion: """
            Finds pages with all words. Also: '"a phrase"', word*, one OR other, -word, title:word, site:example.org, \
            type:pdf, lang:de, in:ID, collection:ID, after:2019, before:2024-06 (docs/search.md).

            Examples:
              replayhost search coral -bleaching
              replayhost search 'site:reef.example "sea star" after:2019'
            """)

    @Argument(help: "What to search for.")
    var words: [String]

    @Option(
        name: .customLong("in"),
        help: ArgumentHelp("Only in this archive or collection; can be repeated.", valueName: "id"))
    var archives: [String] = []

    @Option(name: .long, help: ArgumentHelp("The maximum number of results.", valueName: "number"))
    var limit = 20

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit must be from 1 to 1000") }
    }

    func run() throws {
        let store = try common.openExistingStore()
        var query = try SearchQuery(words.joined(separator: " "))
        query.archives += try archives.map { try store.resolver.replayable(matching: $0).id.text }
        let results = try store.searcher.search(query, limit: limit)
        if let name = results.unknown.first {
            throw StoreError(
                .notFound, "no archive or collection has the id \"\(name)\"",
                hint: "run `replayhost list` to see all archives, or `replayhost collection list`")
        }
        try write(results.hits, store)
        if results.hits.isEmpty {
            common.note(
                query.isEmpty ? "Nothing to search for; give at least one word to find." : "No pages found.")
        }
        noteSpelling(results.suggestion)
        noteAlternatives(results.alternatives, results.hits.isEmpty)
        for filter in results.invalidFilters {
            common.note("\"\(filter)\" isn't a valid filter, so its words were searched for instead.")
        }
        noteOpen(results.hits.first)
        noteURL()
        noteMore(results)
        notePending(results.coverage)
    }

    private func write(_ hits: [SearchHit], _ store: ArchiveStore) throws {
        if common.json { return Terminal.writeJSON(each: hits) }
        let room = Terminal.outputColumns
        let shortIDs = room == nil ? nil : try store.resolver.shortIDs()
        for hit in hits {
            let text = HitText(hit: hit, archive: shortIDs?[hit.archive] ?? hit.archive.text, room: room)
            Terminal.write(parts: text.heading)
            Terminal.write(parts: text.details)
        }
    }

    /// Returns the program's arguments with words to leave out, such as `-reef`, after `--`, where the parser doesn't take
    /// them for options.
    static func withExcludedWords(_ arguments: [String]) -> [String] {
        guard arguments.first == "search", !arguments.contains("--") else { return arguments }
        var (kept, words) = ([String](), [String]())
        for argument in arguments {
            let isWord = argument.hasPrefix("-") && !argument.hasPrefix("--") && argument.count > 1 && argument != "-h"
            if isWord, !["--in", "--limit", "--store"].contains(kept.last) {
                words.append(argument)
            } else {
                kept.append(argument)
            }
        }
        return words.isEmpty ? arguments : kept + ["--"] + words
    }

    /// Shows how to open a result.
    private func noteOpen(_ hit: SearchHit?) {
        guard let hit, !hit.url.isEmpty else { return }
        common.note(OpenCommand.hint(archive: hit.archive.text, url: hit.url, timestamp: hit.timestamp))
    }

    /// Tells someone who searches for a URL how to find its captures, which may not be pages.
    private func noteURL() {
        guard words.count == 1, Self.isURL(words[0]) else { return }
        common.note("To list captures of this URL: replayhost cdx \(Terminal.quoted(words[0]))")
    }

    private func noteSpelling(_ suggestion: SearchResults.Suggestion?) {
        guard let suggestion else { return }
        common.note(
            suggestion.isApplied
                ? "No page has the words as you typed them. These are the pages for: \(suggestion.query)"
                : "Did you mean: \(suggestion.query)")
    }

    /// Tells which part of a search finds nothing, and what finds pages instead.
    private func noteAlternatives(_ alternatives: SearchResults.Alternatives?, _ isEmpty: Bool) {
        guard isEmpty, let alternatives else { return }
        for search in alternatives.parts {
            common.note(
                search.total == 0
                    ? (alternatives.isFiltered ? "With these filters, no page has" : "No page has") + ": \(search.part)"
                    : "\(Self.pages(search)) with: \(search.part)")
        }
        for search in alternatives.withoutFilter {
            let filter = search.part == "all" ? "filters" : "\(search.part):"
            common.note("\(Self.pages(search)) without \(filter)")
        }
    }

    private static func pages(_ search: SearchResults.Alternatives.Search) -> String {
        (search.totalIsMinimum ? "more than " : "") + Terminal.count(search.total, "page", "pages")
    }

    private func noteMore(_ results: SearchResults) {
        guard results.next != nil else { return }
        let total = results.totalIsMinimum ? "more than \(results.total)" : "\(results.total)"
        common.note("\(results.hits.count) of \(total) pages; use --limit to see more.")
    }

    private func notePending(_ coverage: SearchCoverage) {
        guard coverage.pending > 0 else { return }
        let archives = Terminal.count(coverage.pending, "archive isn't", "archives aren't")
        if let reason = coverage.rebuildReason { common.note("The search index is being rebuilt: \(reason).") }
        let text = "\(archives) fully indexed yet, so pages can be missing; run `replayhost jobs run`"
        // Programs must not take missing results for an answer.
        Terminal.writeError(text, label: .warning)
    }

    /// Whether a text is a URL, with or without scheme, or a pattern of URLs, such as `*.example.org`. As in the web app.
    private static func isURL(_ text: String) -> Bool {
        text.wholeMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:\/\/\S+/) != nil
            || text.wholeMatch(
                of: /(\*\.)?([^\s.\/?#:*"]+\.)+[^\s.\/?#:*"\d][^\s.\/?#:*"]+(:\d+)?([\/?#]\S*)?/) != nil
    }
}
