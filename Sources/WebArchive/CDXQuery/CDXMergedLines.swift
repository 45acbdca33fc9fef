/// The lines of several archives that fit, by key and timestamp. Belongs to one thread.
///
/// Indexes that can be searched are read side by side. The others are read as a whole before the first line is given,
/// and sorted, in temporary files when need be.
final class CDXMergedLines {
    /// Whether an index that was searched turned out not to be sorted or to be damaged; it will be scanned from now on.
    private(set) var foundFault = false
    private let matcher: CDXLineMatcher
    private let limits: Limits
    private let progress: CancellationCheck
    private let temporaryFolder: String
    /// `nil` once they are open.
    private var sources: [CDXQuerySource]?
    private let merge = CDXJMerge()

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

    /// The next line, or `nil` at the end.
    func next() throws(WebArchiveError) -> CDXJMerge.Line? {
        if let sources {
            self.sources = nil
            try open(sources)
        }
        return try merge.next()
    }

    private func open(_ sources: [CDXQuerySource]) throws(WebArchiveError) {
        var scanned: CDXJSorter?
        for (number, source) in sources.enumerated() {
            guard let (wacz, assumesSorted) = try source.open() else { continue }
            if let opened = try wacz.searchable(assumesSorted: assumesSorted), !opened.hasPlainKeys {
                for index in opened.indexes {
                    let reader = CDXJRangeReader(index, ranges: matcher.ranges, limits: limits)
                    // The merge is never used without its owner.
                    try merge.add { [unowned self] () throws(WebArchiveError) in
                        try searched(reader, wacz).map { CDXJMerge.Line(bytes: $0, source: number) }
                    }
                }
            } else {
                // URLs as keys are not in the order of SURTs, so that the lines have to be sorted anew.
                var sorter = scanned ?? CDXJSorter(folder: temporaryFolder, limits: limits)
                scanned = nil
                try scan(wacz, source: number, into: &sorter)
                scanned = sorter
            }
        }
        if let lines = try scanned?.sorted() {
            try merge.add { () throws(WebArchiveError) in try lines.next().map { Self.unmarked($0.bytes[...]) } }
        }
    }

    private func scan(_ wacz: WACZFile, source: Int, into sorter: inout CDXJSorter) throws(WebArchiveError) {
        let reader = wacz.makeCaptureReader()
        let mark = Array(" \(source)".utf8)
        while let (entry, _) = try reader.next() {
            try progress.step()
            let line = entry.canonicalLine(from: reader.lastLine)
            if matcher.accepts(entry, line: line) { try sorter.add(line + mark) }
        }
    }

    private func searched(_ lines: CDXJRangeReader, _ wacz: WACZFile) throws(WebArchiveError) -> [UInt8]? {
        do throws(WebArchiveError) {
            while let line = try lines.next() {
                try progress.step()
                if matcher.accepts(line, limits: limits) { return line.bytes }
            }
            return nil
        } catch let error where error.isIndexFault {
            wacz.captureIndex.giveUp(after: error)
            foundFault = true
            throw error
        }
    }

    /// Takes the archive's number off the end of a line.
    static func unmarked(_ line: ArraySlice<UInt8>) -> CDXJMerge.Line {
        let space = line.lastIndex(of: 0x20) ?? line.endIndex
        let number = Int(String(decoding: line[space...].dropFirst(), as: UTF8.self))
        return CDXJMerge.Line(bytes: Array(line[..<space]), source: number ?? 0)
    }
}
