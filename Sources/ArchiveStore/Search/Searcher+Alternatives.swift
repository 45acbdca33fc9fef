import GRDB
import WebArchive

/// What else a person can search for when little or nothing is found.
extension Searcher {
    /// Adds another spelling, and takes its hits if there are none; else, what finds pages in place of the search.
    func forgive(
        _ query: SearchQuery, among archives: [ArchiveName], limit: Int, _ results: inout SearchResults
    ) throws {
        let isEmpty = results.total == 0
        if let (corrected, count) = try correction(of: query, among: archives, finding: results.total) {
            results.suggestion = SearchResults.Suggestion(
                query: corrected.text, total: count.count, totalIsMinimum: count.isMinimum, isApplied: isEmpty)
            if isEmpty {
                var (chosen, found) = try chosen(by: corrected, among: archives)
                try find(corrected, in: chosen, limit: limit, offset: 0, &found)
                (results.hits, results.total, results.totalIsMinimum) = (found.hits, found.total, found.totalIsMinimum)
            }
        }
        if isEmpty { results.alternatives = try alternatives(to: query, among: archives) }
    }

    /// Returns the search with words of the library in place of those that are on no page; `nil` if that doesn't find more.
    private func correction(
        of query: SearchQuery, among archives: [ArchiveName], finding total: Int
    ) throws -> (query: SearchQuery, count: (count: Int, isMinimum: Bool))? {
        let candidates = try store.search.database.reading { database in
            let spelling = SimilarWords(vocabulary: Vocabulary(database: database))
            let forms = WordForms(database, try WordForms.languages(database))
            return try query.terms.prefix(Self.wordsMax).compactMap { term -> (Substring, [Vocabulary.Entry])? in
                guard let typed = term.typed else { return nil }
                let pages = try spelling.vocabulary.entry(term.words[0])?.pages ?? 0
                guard pages <= Self.rarePagesMax, try pages > 0 || forms.forms(of: term).isEmpty else { return nil }
                // A rare word can be what was meant.
                let found = try spelling.suggestions(for: term.words[0]).filter { $0.pages >= pages * Self.timesMin }
                return found.isEmpty ? nil : (typed, Array(found.prefix(Self.candidatesMax)))
            }
        }
        guard !candidates.isEmpty else { return nil }
        // All words at once; of several candidates for one word, the first that is found with the others.
        for rank in 0..<(candidates.map { $0.1.count }.max() ?? 0) {
            let words = candidates.map { (typed: $0.0, with: $0.1[min(rank, $0.1.count - 1)].text) }
            let corrected = try query.replacing(words)
            let count = try pageCount(corrected, among: archives)
            if count.count > total { return (corrected, count) }
        }
        return nil
    }

    /// Returns which parts of a search that finds nothing find pages.
    private func alternatives(
        to query: SearchQuery, among archives: [ArchiveName]
    ) throws -> SearchResults.Alternatives {
        func search(_ part: String, _ query: SearchQuery) throws -> SearchResults.Alternatives.Search {
            let found = try pageCount(query, among: archives)
            return .init(part: part, query: query.text, total: found.count, totalIsMinimum: found.isMinimum)
        }
        var found = SearchResults.Alternatives(isFiltered: query.isFiltered)
        if query.groups.count > 1 {
            for group in query.groups.prefix(Self.wordsMax) {
                let part = group.map { String($0.source) }.joined(separator: " OR ")
                // The results name these anyway.
                guard !query.invalidFilters.contains(part) else { continue }
                found.parts.append(try search(part, query.keeping(group)))
            }
        }
        var all: SearchQuery? = query
        for filter in SearchQuery.filterOrder {
            guard let without = try query.without(filter) else { continue }
            all = try all?.without(filter)
            let alternative = try search(filter, without)
            if alternative.total > 0 { found.withoutFilter.append(alternative) }
        }
        if found.withoutFilter.isEmpty, let all, all != query {
            let alternative = try search("all", all)
            if alternative.total > 0 { found.withoutFilter.append(alternative) }
        }
        return found
    }

    private static let wordsMax = 12
    private static let candidatesMax = 3
    /// A word on more pages isn't an error.
    private static let rarePagesMax = 3
    /// How many times as many pages have a word that is suggested in place of a rare one.
    private static let timesMin = 20
}
