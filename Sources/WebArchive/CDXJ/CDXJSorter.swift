/// Sorts any number of index lines in bounded memory, by merging sorted runs in temporary files.
///
/// Lines are ordered bytewise by key and timestamp. Equal lines keep their order.
struct CDXJSorter {
    private let folder: String
    private let limits: Limits
    private var lines: [[UInt8]] = []
    private var byteCount = 0
    private var runs: [FileByteSource] = []

    /// The maximum number of runs to merge at a time. Each needs an open file and a buffer.
    private static let runsMax = 64

    /// - Parameter folder: The folder for the temporary files, which are unlinked as soon as they are open.
    init(folder: String, limits: Limits) {
        self.folder = folder
        self.limits = limits
    }

    /// Adds a line without its line ending.
    mutating func add(_ line: [UInt8]) throws(WebArchiveError) {
        lines.append(line)
        // An array takes about 32 bytes in addition to its contents.
        byteCount += line.count + 32
        if byteCount >= limits.sortedBytesMax { try spill() }
    }

    /// Returns all lines in order. Don't add lines afterwards.
    mutating func sorted() throws(WebArchiveError) -> CDXJMerge {
        guard !runs.isEmpty else { return try removeSortedLines() }
        if !lines.isEmpty { try spill() }
        return try mergedRuns()
    }

    private mutating func removeSortedLines() throws(WebArchiveError) -> CDXJMerge {
        let sorted = lines.enumerated().sorted { left, right in
            let (first, second) = (CDXJLine.sortKey(of: left.element[...]), CDXJLine.sortKey(of: right.element[...]))
            if first.lexicographicallyPrecedes(second) { return true }
            return left.offset < right.offset && !second.lexicographicallyPrecedes(first)
        }
        lines = []
        byteCount = 0
        let merge = CDXJMerge()
        var left = sorted.map(\.element)[...]
        try merge.add { () throws(WebArchiveError) in left.popFirst().map { CDXJMerge.Line(bytes: $0) } }
        return merge
    }

    /// Merges the runs. Among equal lines, those of earlier runs come first.
    private mutating func mergedRuns() throws(WebArchiveError) -> CDXJMerge {
        let merge = CDXJMerge()
        for run in runs {
            // A new key may be longer than the one it replaces.
            let reader = LineReader(
                SourceStream(run), capacity: 64 << 10, lineBytesMax: 4 * limits.indexLineBytesMax,
                skippedLineBytesMax: 4 * limits.indexLineBytesMax)
            try merge.add { () throws(WebArchiveError) in try reader.next()?.bytes.map { CDXJMerge.Line(bytes: $0) } }
        }
        runs = []
        return merge
    }

    private mutating func spill() throws(WebArchiveError) {
        try addRun(removeSortedLines())
        // The merged run contains the oldest lines, so it goes first.
        if runs.count >= Self.runsMax { try addRun(mergedRuns()) }
    }

    private mutating func addRun(_ lines: CDXJMerge) throws(WebArchiveError) {
        let file = try TemporaryFile(in: folder)
        while let line = try lines.next() {
            try file.output.write(line.bytes)
            try file.output.write([0x0A])
        }
        runs.append(try file.finish(name: "sorted index lines"))
    }
}
