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
                    let reader = CDXJRangeReader(index, ranges: matcher.ranges, limits: limits)
                    if closesArchives {
                        while let line = try searched(reader, wacz) { try sorter.add(line + Self.mark(number)) }
                        continue
                    }
                    // Only `self` uses the merge, so the reader can't outlive it.
                    try merge.add { [unowned self] () throws(WebArchiveError) in
                        try searched(reader, wacz).map { CDXJMerge.Line(bytes: $0, source: number) }
                    }
                }
            } else {
                try scan(wacz, source: number, into: &sorter)
            }
        }
        let sorted = try sorter.sorted()
        try merge.add { () throws(WebArchiveError) in try sorted.next().map { Self.unmarked($0.bytes[...]) } }
    }

    private func scan(_ wacz: WACZFile, source: Int, into sorter: inout CDXJSorter) throws(WebArchiveError) {
        let reader = wacz.makeCaptureReader()
        let mark = Self.mark(source)
        while let (entry, _) = try reader.next() {
            try progress.step()
            let line = entry.canonicalLine(from: reader.lastLine)
            if matcher.accepts(entry, line: line) { try sorter.add(line + mark) }
        }
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

    private static func mark(_ source: Int) -> [UInt8] { Array(" \(source)".utf8) }

    /// Removes the archive's number from the end of a line.
    static func unmarked(_ line: ArraySlice<UInt8>) -> CDXJMerge.Line {
        let space = line.lastIndex(of: 0x20) ?? line.endIndex
        let number = Int(String(decoding: line[space...].dropFirst(), as: UTF8.self))
        return CDXJMerge.Line(bytes: Array(line[..<space]), source: number ?? 0)
    }
}
