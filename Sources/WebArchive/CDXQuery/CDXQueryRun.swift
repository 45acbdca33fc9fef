/// Runs a query and returns its result line by line. Use it from one thread at a time.
///
/// If the indexes can be searched, the first line is available at once and memory use is constant. The steps are those
/// of pywb: match URL and match type; select the page; apply filters and times; collapse; sort; limit.
public final class CDXQueryRun {
    private let query: CDXQuery
    private let sources: [CDXQuerySource]
    private let temporaryFolder: String
    private let limits: Limits
    private let matcher: CDXLineMatcher
    private let writer: CDXLineWriter
    private let progress: CancellationCheck
    private var lines: CDXMergedLines
    private var steps: Steps?
    /// The first line of the page, read to check that the page exists.
    private var firstOfPage: CDXJMerge.Line?
    private var linesGiven = 0
    private var restarts = 0

    /// The state of the run, which is created again if the run restarts.
    private struct Steps {
        let filters: [CDXFilterTest]
        /// For each `collapse`, the values of the last line that passed.
        var lastTokens: [[[UInt8]?]?]
        /// The number of lines left on the page.
        var pageLines: Int
        var reordered: CDXReorder?
        var linesLeft: Int
        /// The previous line, for output formats with a separator between lines.
        var pending: [UInt8]?
        var isAtEnd = false
    }

    /// - Parameters:
    ///   - query: The query.
    ///   - limits: Bounds on what the run reads, sorts and keeps.
    ///   - sources: The archives, in the order used for equal lines.
    ///   - namesSources: Whether lines name their archive in `source`, as is useful with several archives.
    ///   - temporaryFolder: The folder for sorting lines that don't fit into memory. No file remains there.
    ///   - mementoURL: Returns the link target for `output=link` from an archive's name, a timestamp and a URL; if
    ///     `nil`, links lead to the captured URLs.
    ///   - progress: Called regularly; returns whether to continue.
    public init(
        _ query: CDXQuery, sources: [CDXQuerySource], namesSources: Bool, temporaryFolder: String,
        limits: Limits = .standard,
        mementoURL: ((_ source: String, _ timestamp: String, _ url: String) -> String)? = nil,
        progress: @escaping () -> Bool = { true }
    ) {
        self.query = query
        self.sources = sources
        self.temporaryFolder = temporaryFolder
        self.limits = limits
        matcher = CDXLineMatcher(query.captures)
        writer = CDXLineWriter(
            query: query, sourceNames: sources.map(\.name), namesSources: namesSources && query.allowsSourceNames,
            mementoURL: mementoURL)
        self.progress = CancellationCheck(progress)
        lines = CDXMergedLines(
            sources, matcher, temporaryFolder: temporaryFolder, limits: limits, self.progress)
    }

    /// Returns the next line with its line ending, or `nil` at the end.
    ///
    /// - Throws: `CDXQueryProblem` before the first line if the page doesn't exist. `WebArchiveError`: `io`,
    ///   `cancelled`, and `badIndex` or a damage code if an index turns out to be unsorted or damaged after the first
    ///   line. Before the first line, the run restarts instead and reads that index completely.
    public func next() throws -> [UInt8]? {
        while true {
            do {
                let text = try nextText()
                if text != nil { linesGiven += 1 }
                return text
            } catch let error as WebArchiveError {
                guard lines.foundFault, linesGiven == 0, restarts <= sources.count else {
                    throw Self.incompleteResult(error, lines)
                }
                restarts += 1
                (steps, firstOfPage) = (nil, nil)
                lines = CDXMergedLines(sources, matcher, temporaryFolder: temporaryFolder, limits: limits, progress)
            }
        }
    }

    /// Whether it's known that no line is left, without reading on.
    package var isAtEnd: Bool {
        guard let steps else { return false }
        return steps.isAtEnd || steps.linesLeft == 0 && query.output != .link
    }

    private static func incompleteResult(_ error: WebArchiveError, _ lines: CDXMergedLines) -> WebArchiveError {
        guard lines.foundFault else { return error }
        return WebArchiveError(
            code: error.code, problem: error.problem, file: error.file, offset: error.offset,
            hint: "the lines so far may be incomplete; run the query again to read the whole index")
    }

    private func nextText() throws -> [UInt8]? {
        if steps == nil { try start() }
        guard steps?.isAtEnd == false else { return nil }
        if query.countsPages {
            steps?.isAtEnd = true
            return try pageCount()
        }
        guard query.output == .link else { return try nextLine().map { writer.text(of: $0) + [0x0A] } }
        while let line = try nextLine() {
            let before = steps?.pending
            steps?.pending = writer.text(of: line)
            if let before { return before + Array(",\n".utf8) }
        }
        steps?.isAtEnd = true
        return steps?.pending.map { $0 + [0x0A] }
    }

    private func start() throws {
        var filters: [CDXFilterTest] = []
        for filter in query.filters {
            do throws(RegularExpression.Problem) {
                filters.append(try CDXFilterTest(filter, limits: limits))
            } catch {
                throw CDXQueryProblem(
                    "filter", filter.text, "the regular expression can't be used: \(error.what)",
                    hint: error.hint ?? "use a simpler one")
            }
        }
        steps = Steps(
            filters: filters, lastTokens: Array(repeating: nil, count: query.collapses.count),
            pageLines: query.page?.lineCount ?? .max, linesLeft: query.limit ?? .max)
        if !query.countsPages { try skipToPage() }
        try reorder()
    }
}

extension CDXQueryRun {
    /// Skips the lines of earlier pages without parsing their JSON.
    private func skipToPage() throws {
        guard let page = query.page, page.number > 0 else { return }
        let (wanted, overflow) = page.number.multipliedReportingOverflow(by: page.lineCount)
        var count = 0
        while overflow || count < wanted, try nextWhole() != nil { count += 1 }
        guard !overflow, count == wanted, let first = try nextWhole() else {
            let last = max(0, (count - 1) / page.lineCount)
            throw CDXQueryProblem(
                "page", String(page.number), "no such page", hint: "the first page is 0, the last is \(last)")
        }
        firstOfPage = first
    }

    /// Returns the result of `showNumPages`: counts all lines that match URL and match type.
    private func pageCount() throws -> [UInt8] {
        var count = 0
        while try nextWhole() != nil { count += 1 }
        let blocks = (count + CDXQuery.linesPerBlock - 1) / CDXQuery.linesPerBlock
        let size = query.pageBlockCount
        let pages = blocks / size + (blocks.isMultiple(of: size) ? 0 : 1)
        return Array("{\"pages\": \(pages), \"pageSize\": \(size), \"blocks\": \(blocks)}\n".utf8)
    }

    /// Returns the next line that looks like a capture.
    private func nextWhole() throws(WebArchiveError) -> CDXJMerge.Line? {
        while let line = try lines.next() {
            if CDXQueryLine.shape(of: line.bytes)?.isWhole == true { return line }
        }
        return nil
    }

    private func nextOnPage() throws(WebArchiveError) -> CDXJMerge.Line? {
        guard let left = steps?.pageLines, left > 0 else { return nil }
        steps?.pageLines = left - 1
        if let first = firstOfPage {
            firstOfPage = nil
            return first
        }
        return try nextWhole()
    }

    private func nextChosen() throws(WebArchiveError) -> CDXQueryLine? {
        while let raw = try nextOnPage() {
            guard isInTime(raw.bytes), let line = CDXQueryLine(raw.bytes, source: raw.source, limits: limits),
                try passesFilters(line), passesCollapses(line)
            else { continue }
            return line
        }
        return nil
    }

    private func isInTime(_ line: [UInt8]) -> Bool {
        guard query.from != nil || query.to != nil, let time = CDXQueryLine.shape(of: line)?.time else { return true }
        let digits = String(decoding: line[time], as: UTF8.self)
        let padded = digits + String(repeating: "0", count: max(0, 17 - digits.utf8.count))
        if let from = query.from, padded < from { return false }
        if let to = query.to, padded > to { return false }
        return true
    }

    private func passesFilters(_ line: CDXQueryLine) throws(WebArchiveError) -> Bool {
        for filter in steps?.filters ?? [] {
            let name = sources[line.source].name
            let value = filter.field.map { line.value(of: $0, sourceName: name) ?? [] } ?? writer.wholeLine(line)
            guard try filter.passes(value) else { return false }
        }
        return true
    }

    private func passesCollapses(_ line: CDXQueryLine) -> Bool {
        for (place, collapse) in query.collapses.enumerated() {
            var token = collapse.fields.map { line.value(of: $0, sourceName: sources[line.source].name) }
            if let count = collapse.prefixBytes { token[0] = token[0].map { Array($0.prefix(count)) } }
            if steps?.lastTokens[place] == token { return false }
            steps?.lastTokens[place] = token
        }
        return true
    }

    /// Reads and sorts all lines if the query's order isn't that of the index.
    private func reorder() throws(WebArchiveError) {
        guard query.order != .ascending, !query.countsPages else { return }
        var reordered = CDXReorder(limit: query.limit, temporaryFolder: temporaryFolder, limits: limits)
        var number: UInt64 = 0
        while let line = try nextChosen() {
            number += 1
            let rank: CDXReorder.Rank
            if case .closest(let wanted) = query.order {
                let time = matcher.rank(of: line, for: wanted)
                rank = .init(first: time?.distance ?? .max, second: time?.preference ?? 0)
            } else {
                rank = .init(first: .max - number, second: 0)
            }
            try reordered.add(.init(bytes: line.bytes, source: line.source), rank)
        }
        steps?.reordered = reordered
    }

    private func nextLine() throws(WebArchiveError) -> CDXQueryLine? {
        guard let left = steps?.linesLeft, left > 0 else { return nil }
        steps?.linesLeft = left - 1
        guard steps?.reordered != nil else { return try nextChosen() }
        guard let raw = try steps?.reordered?.next() else { return nil }
        return CDXQueryLine(raw.bytes, source: raw.source, limits: limits)
    }
}
