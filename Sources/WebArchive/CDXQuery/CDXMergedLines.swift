/// The matching lines of several archives, sorted by key and timestamp. Use it from one thread at a time.
///
/// Reads indexes that can be searched in parallel, and keeps their archives open. Reads and sorts the others completely
/// before the first line, in temporary files if necessary; also those of more archives than can be kept open.
final class CDXMergedLines {
    /// Whether a searched index turned out to be unsorted or damaged. It's scanned from then on.
    private(set) var foundFault = false
    private let matcher: CDXLineMatcher
    private let limits: Limits
    private let progress: CancellationCheck
    private let temporaryFolder: String
    /// The archives; `nil` after they have been opened.
    private var sources: [CDXQuerySource]?
    private let merge = CDXJMerge()
    /// The maximum number of archives to keep open. The captures of one URL are few, so that they are soon sorted.
    private var openMax: Int { matcher.isExact ? 64 : 256 }

    init(
        _ sources: [CDXQuerySource], _ matcher: CDXLineMatcher, temporaryFolder: String, limits: Limits,
        _ progress: CancellationCheck
    ) {
        self.matcher = matcher
        self.limits = limits
        self.progress = progress
        self.sources = sources
        self.temporaryFolder = temporaryFolder
    }

    /// Returns the next line, or `nil` at the end.
    func next() throws(WebArchiveError) -> CDXJMerge.Line? {
        if let sources {
            self.sources = nil
            try open(sources)
        }
        return try merge.next()
    }

    private func open(_ sources: [CDXQuerySource]) throws(WebArchiveError) {
        let closesArchives = sources.count > openMax
        var sorter = CDXJSorter(folder: temporaryFolder, limits: limits)
        for (number, source) in sources.enumerated() {
            guard let wacz = try source.open() else { continue }
            if let opened = try wacz.searchable(needsSURTs: true) {
                for index in opened.indexes {
                    let reader = CDXJRangeReader(index, ranges: matcher.ranges, limits: limits, nil)
                    if closesArchives {
                        while let line = try searched(reader, wacz) { try sorter.add(line, source: number) }
                        continue
                    }
                    // Only `self` uses the merge, so the reader can't outlive it.
                    try merge.add { [unowned self] () throws(WebArchiveError) in
                        try searched(reader, wacz).map { CDXJMerge.Line(bytes: $0, source: number) }
                    }
                }
            } else {
                try sorter.addLines(of: wacz, source: number, progress) { matcher.accepts($0, line: $1) }
            }
        }
        try merge.add(sorter.sortedWithSources())
    }

    private func searched(_ lines: CDXJRangeReader, _ wacz: WACZFile) throws(WebArchiveError) -> [UInt8]? {
        do throws(WebArchiveError) {
            return try wacz.captureIndex.searching { () throws(WebArchiveError) in
                while let line = try lines.next() {
                    try progress.step()
                    if matcher.accepts(line, limits: limits) { return line.bytes }
                }
                return nil
            }
        } catch {
            foundFault = error.isIndexFault
            throw error
        }
    }
}

/// Lines with the position of their archive in the query at their end.
extension CDXJSorter {
    mutating func add(_ line: [UInt8], source: Int) throws(WebArchiveError) {
        try add(line + Array(" \(source)".utf8))
    }

    /// Reads all index entries of an archive, and adds the canonical lines of those that are wanted.
    mutating func addLines(
        of wacz: WACZFile, source: Int, _ check: CancellationCheck, where isWanted: (CDXJEntry, [UInt8]) -> Bool
    ) throws(WebArchiveError) {
        let reader = wacz.makeCaptureReader()
        let mark = Array(" \(source)".utf8)
        while let (entry, _) = try reader.next() {
            try check.step()
            let line = entry.canonicalLine(from: reader.lastLine)
            if isWanted(entry, line) { try add(line + mark) }
        }
    }

    /// Returns a reader of all lines in order. Don't add lines afterwards.
    mutating func sortedWithSources() throws(WebArchiveError) -> CDXJMerge.Reader {
        let sorted = try sorted()
        return { () throws(WebArchiveError) in try sorted.next().map { CDXJMerge.Line(withSource: $0.bytes[...]) } }
    }
}

extension CDXJMerge.Line {
    /// Creates a line from one that ends with the position of its archive.
    init(withSource line: ArraySlice<UInt8>) {
        let space = line.lastIndex(of: 0x20) ?? line.endIndex
        let number = Int(String(decoding: line[space...].dropFirst(), as: UTF8.self))
        self.init(bytes: Array(line[..<space]), source: number ?? 0)
    }
}
