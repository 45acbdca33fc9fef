import Foundation
import GRDB
import WebArchive

/// Searches the text of all archives.
package struct Searcher: Sendable {
    let store: ArchiveStore

    /// Returns pages, best first.
    ///
    /// - Parameters:
    ///   - cursor: `SearchResults.next` of the results before.
    ///   - hasFacets: Whether to count the pages by archive, site and so on.
    /// - Throws: `StoreError`: `invalidQuery` for an invalid cursor, `unusable`.
    package func search(
        _ query: SearchQuery, limit: Int, cursor: String? = nil, hasFacets: Bool = false
    ) throws -> SearchResults {
        let offset = try cursor.map(Self.offset) ?? 0
        let archives = try store.catalog.names()
        var (chosen, results) = try chosen(by: query, among: archives)
        results.facets = hasFacets ? SearchFacets() : nil
        if store.search.database.exists, !query.isEmpty, results.unknown.isEmpty {
            try find(query, in: chosen, limit: limit, offset: offset, &results)
            if results.total <= Self.suggestionHitsMax, offset == 0 {
                try forgive(query, among: archives, limit: limit, &results)
            }
        }
        // Last, since a search may find that the index is damaged, and then begins a new one.
        results.coverage = try coverage(of: archives)
        return results
    }

    /// Calls `body` with where to search, unless nothing can be found there.
    private func reading<Value>(
        _ query: SearchQuery, in archives: [ArchiveName], _ body: (SearchScope) throws -> Value
    ) throws -> Value? {
        try store.search.database.reading { database in
            try SearchScope(database, store.search, archives, after: query.after, before: query.before).map(body)
        }
    }

    func find(
        _ query: SearchQuery, in archives: [ArchiveName], limit: Int, offset: Int, _ results: inout SearchResults
    ) throws {
        let before = results
        // After damage this runs again, with a new index. Nothing of the first run may stay.
        let found = try reading(query, in: archives) { scope -> SearchResults in
            var results = before
            let count = offset + limit + 1
            let plan = try SearchPlan(query, scope.database)
            results.optionalWords = plan.optional.sorted()
            var (found, isComplete) = try documents(plan.exact, scope, count: count)
            func total(_ expression: MatchExpression?) throws -> (count: Int, isMinimum: Bool) {
                if isComplete, found.count <= Self.totalMax { return (found.count, false) }
                return try self.total(expression, scope, min(found.count, count))
            }
            (results.total, results.totalIsMinimum) = try total(plan.exact)
            var (expression, forms) = (plan.exact, [String: [String]]())
            // Pages with the words as typed are first.
            if !results.totalIsMinimum, let wider = try plan.wider(scope.database) {
                (expression, forms) = (wider.expression, wider.forms)
                // If there are enough exact hits, wider ones aren't on this page of results.
                isComplete = found.count < count
                if isComplete {
                    let seen = Set(found.map(\.url))
                    let others = try documents(
                        wider.expression.excluding(plan.exact), scope, count: count + seen.count)
                    found += others.found.filter { !seen.contains($0.url) }
                    isComplete = others.isComplete
                }
                (results.total, results.totalIsMinimum) = try total(wider.expression)
            }
            let shown = found.dropFirst(offset).prefix(limit)
            let finder = SnippetFinder(plan.needed, forms: forms, folding: WordFolding())
            results.hits = try shown.compactMap { try hit($0, scope, finder) }
            if found.count > offset + limit, offset + limit <= Self.offsetMax { results.next = String(offset + limit) }
            if results.facets != nil { results.facets = try facets(expression, scope) }
            return results
        }
        if let found { results = found }
    }

    /// Returns how many pages a query finds.
    func pageCount(_ query: SearchQuery, among archives: [ArchiveName]) throws -> (count: Int, isMinimum: Bool) {
        let chosen = try chosen(by: query, among: archives).archives
        let count = try reading(query, in: chosen) { scope -> (count: Int, isMinimum: Bool) in
            if query.isEmpty { return (0, false) }
            let plan = try SearchPlan(query, scope.database)
            let exact = try total(plan.exact, scope, 0)
            guard !exact.isMinimum, let wider = try plan.wider(scope.database) else { return exact }
            return try total(wider.expression, scope, 0)
        }
        return count ?? (0, false)
    }

    /// What of the library can be searched.
    package func coverage() throws -> SearchCoverage { try coverage(of: store.catalog.names()) }

    /// What the index has of an archive; `nil` if indexing hasn't started, or if the index can't be read, which a search
    /// reports.
    package func indexedText(of archive: Archive) throws -> IndexedText? {
        let progress: SearchIndex.Progress?
        do {
            progress = try store.search.progress(key: archive.key)
        } catch let error as StoreError where [.unusable, .noSpace].contains(error.code) {
            return nil
        }
        return progress.map { progress in
            IndexedText(
                isComplete: progress.isComplete, source: progress.source, pages: progress.position,
                withText: progress.withText,
                withoutText: Dictionary(progress.reasons.map { ($0.key.rawValue, $0.value) }) { $1 })
        }
    }

    private func coverage(of archives: [ArchiveName]) throws -> SearchCoverage {
        var coverage = SearchCoverage()
        let complete = try store.search.completeKeys()
        coverage.complete = archives.count { complete.contains($0.key) }
        coverage.pending = archives.count - coverage.complete
        if coverage.pending > 0, store.search.database.exists {
            coverage.rebuildReason = try store.search.rebuildReason()
        }
        return coverage
    }

    /// Returns the archives in which to search, and results with the IDs that don't exist.
    func chosen(
        by query: SearchQuery, among all: [ArchiveName]
    ) throws -> (archives: [ArchiveName], results: SearchResults) {
        var results = SearchResults()
        results.invalidFilters = query.invalidFilters
        var chosen: Set<ArchiveID>?
        for name in query.archives {
            do {
                chosen = (chosen ?? []).union(try store.resolver.replayable(matching: name).archives.map(\.id))
            } catch let error as StoreError where [.notFound, .ambiguous].contains(error.code) {
                results.unknown.append(name)
            }
        }
        for name in query.collections {
            guard let id = ArchiveID(name), let collection = try store.collections.collection(id: id) else {
                results.unknown.append(name)
                continue
            }
            store.recentlyUsed.note(id)
            chosen = (chosen ?? []).union(collection.members)
        }
        return (chosen.map { chosen in all.filter { chosen.contains($0.id) } } ?? all, results)
    }

    private struct FoundDocument: Decodable, FetchableRecord {
        let document: Int64
        let url: Int64
    }

    /// Returns the best document of each URL, best first: at least `count`, or all. `isComplete`: whether these are all.
    private func documents(
        _ expression: MatchExpression?, _ scope: SearchScope, count: Int
    ) throws -> (found: [FoundDocument], isComplete: Bool) {
        var wanted = count + 20
        while true {
            let rows = try rows(expression, scope, limit: wanted)
            var seen: Set<Int64> = []
            let first = rows.filter { seen.insert($0.url).inserted }
            if first.count >= count || rows.count < wanted { return (first, rows.count < wanted) }
            wanted *= 4
        }
    }

    private func rows(_ expression: MatchExpression?, _ scope: SearchScope, limit: Int) throws -> [FoundDocument] {
        guard let expression else {
            let sql = """
                SELECT number AS document, url FROM document WHERE \(scope.condition("document.number"))
                ORDER BY number DESC LIMIT ?
                """
            return try FoundDocument.fetchAll(scope.database.cachedStatement(sql: sql), arguments: [limit])
        }
        let sql = """
            SELECT found.rowid AS document, document.url FROM (
                SELECT rowid, bm25(word, \(Self.weights)) AS score FROM word
                WHERE word MATCH ? AND \(scope.condition("word.rowid")) ORDER BY score LIMIT ?) AS found
            JOIN document ON document.number = found.rowid ORDER BY found.score, found.rowid
            """
        return try FoundDocument.fetchAll(scope.statement(sql), arguments: [expression.argument, limit])
    }

    private func total(
        _ expression: MatchExpression?, _ scope: SearchScope, _ known: Int
    ) throws -> (count: Int, isMinimum: Bool) {
        let source =
            expression == nil
            ? "document WHERE \(scope.condition("document.number"))"
            : "word JOIN document ON document.number = word.rowid WHERE word MATCH ? AND \(scope.condition("word.rowid"))"
        let sql = "SELECT count(*) FROM (SELECT DISTINCT document.url FROM \(source) LIMIT \(Self.totalMax + 1))"
        let arguments = expression.map { StatementArguments([$0.argument]) } ?? StatementArguments()
        let count = max(known, try Int.fetchOne(scope.database, sql: sql, arguments: arguments) ?? 0)
        return count > Self.totalMax ? (max(Self.totalMax, known - 1), true) : (count, false)
    }

    private struct DocumentRow: Decodable, FetchableRecord {
        let text: Int64?
        let title: String
        let type: String
        let language: String
        let address: String
    }

    private struct YearRow: Decodable, FetchableRecord {
        let year: String
        let count: Int
    }

    private func hit(_ found: FoundDocument, _ scope: SearchScope, _ finder: SnippetFinder) throws -> SearchHit? {
        let sql = """
            SELECT document.text, title, type, language, url.url AS address
            FROM document JOIN url ON url.number = document.url WHERE document.number = ?
            """
        let latest = "SELECT max(timestamp) FROM capture WHERE document = ? AND \(scope.captureCondition)"
        // Copies in several archives are one capture.
        let byYear = """
            SELECT substr(timestamp, 1, 4) AS year, count(DISTINCT timestamp) AS count FROM document
            JOIN capture ON capture.document = document.number
            WHERE document.url = ? AND capture.part = 0 AND \(scope.captureCondition) GROUP BY year ORDER BY year
            """
        let document = try DocumentRow.fetchOne(scope.database.cachedStatement(sql: sql), arguments: [found.document])
        let timestamp = try String.fetchOne(scope.statement(latest), arguments: [found.document])
        guard let document, let timestamp else { return nil }
        let copies = try archives(withURL: found.url, at: timestamp, preferring: found.document, scope)
        guard let observed = copies.first?.archive.observed(in: store.layout) else { return nil }
        let archive = observed.archive
        let others = copies.dropFirst().filter(\.hasText).map {
            SearchHit.OtherArchive($0.archive.observed(in: store.layout))
        }
        let years = try YearRow.fetchAll(scope.statement(byYear), arguments: [found.url])
        let text = try document.text.map { try SearchText.fetch(scope.database, number: $0) }
        return SearchHit(
            archive: archive.id, archiveTitle: archive.title, originalName: archive.entry.originalName,
            url: document.address, timestamp: timestamp, title: String(document.title.prefix(Self.titleMax)),
            snippet: finder.snippet(of: text?.content ?? []),
            type: document.type, language: document.language.isEmpty ? nil : document.language,
            captures: years.reduce(0) { $0 + $1.count }, years: years.compactMap { Int($0.year) },
            verification: archive.verificationCode(observed.availability),
            verificationSummary: archive.verified, otherArchives: others.isEmpty ? nil : others)
    }

    private struct CopyRow: Decodable, FetchableRecord {
        let archive: Int64
        let document: Int64
    }

    /// Returns the archives that have a capture, those with the best copies first; see `CopyOrder`.
    ///
    /// - Parameters:
    ///   - url: The number of the URL.
    ///   - document: The text that was found. An intact copy with another text is better than a damaged one with it.
    func archives(
        withURL url: Int64, at timestamp: String, preferring document: Int64? = nil, _ scope: SearchScope
    ) throws -> [(archive: Archive, hasText: Bool)] {
        let sql = """
            SELECT capture.archive AS archive, document.number AS document
            FROM document JOIN capture ON capture.document = document.number
            WHERE document.url = ? AND timestamp = ? AND (part = 0 OR document.number = ?) AND \(scope.captureCondition)
            ORDER BY document.number = ? DESC, archive DESC LIMIT \(Self.copiesMax)
            """
        let rows = try CopyRow.fetchAll(scope.statement(sql), arguments: [url, timestamp, document, document])
        var seen: Set<Int64> = []
        let copies = try rows.filter { seen.insert($0.archive).inserted }.compactMap { row in
            try scope.archive(row.archive).flatMap { try store.catalog.archive(key: $0.key) }.map { archive in
                (archive: archive, hasText: row.document == document, order: CopyOrder(archive, in: store.layout))
            }
        }
        return copies.sorted { one, other in
            if one.order.isDamaged != other.order.isDamaged { return other.order.isDamaged }
            return one.hasText == other.hasText ? one.order < other.order : one.hasText
        }.map { ($0.archive, $0.hasText) }
    }

    private func facets(_ expression: MatchExpression?, _ scope: SearchScope) throws -> SearchFacets {
        let found =
            expression == nil
            ? "SELECT number FROM document WHERE \(scope.condition("document.number"))"
            : "SELECT rowid AS number FROM word WHERE word MATCH ? AND \(scope.condition("word.rowid"))"
        let arguments = expression.map { StatementArguments([$0.argument]) } ?? StatementArguments()
        let source = "WITH found AS MATERIALIZED (\(found) LIMIT \(Self.facetDocumentsMax))"
        func counts(_ value: String, _ tables: String, _ condition: String = "1") throws -> [SearchFacets.Count] {
            let sql = """
                \(source) SELECT \(value) AS value, count(DISTINCT document.url) AS count
                FROM found JOIN document USING (number) \(tables) WHERE \(condition)
                GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT \(Self.facetValuesMax)
                """
            return try SearchFacets.Count.fetchAll(scope.database, sql: sql, arguments: arguments)
        }
        let captures = "JOIN capture ON capture.document = document.number"
        let number = try Int.fetchOne(
            scope.database, sql: "\(source) SELECT count(*) FROM found", arguments: arguments)
        return SearchFacets(
            archives: try counts("CAST(capture.archive AS TEXT)", captures, scope.captureCondition).compactMap { item in
                Int64(item.value).flatMap(scope.archive).map { archive in
                    .init(
                        value: archive.id.text, count: item.count, title: archive.title,
                        originalName: archive.originalName)
                }
            },
            sites: try counts(
                "host.name", "JOIN url ON url.number = document.url JOIN host ON host.number = url.host"),
            years: try counts(
                "substr(capture.timestamp, 1, 4)", captures, "\(scope.captureCondition) AND timestamp != ''"),
            types: try counts("type", ""), languages: try counts("language", "", "language != ''"),
            isPartial: number == Self.facetDocumentsMax)
    }

    private static func offset(_ cursor: String) throws -> Int {
        guard let offset = Int(cursor), (0...offsetMax).contains(offset) else {
            throw StoreError(.invalidQuery, "this cursor isn't valid")
        }
        return offset
    }

    /// What a word counts in the title, a heading, the URL, the text and a facet. The column `rank` could have these weights
    /// too, but sorts all found words in a table of its own, which takes half as long again.
    private static let weights = "10.0, 5.0, 3.0, 1.0, 0.0"
    package static let totalMax = 1000
    /// The number of pages up to which other spellings are suggested.
    private static let suggestionHitsMax = 5
    package static let facetDocumentsMax = 10_000
    private static let facetValuesMax = 50
    private static let titleMax = 300
    private static let copiesMax = 100
    private static let offsetMax = 100_000
}
