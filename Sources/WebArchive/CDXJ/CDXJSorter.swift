#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Sorts any number of index lines with bounded memory: sorted runs in temporary files, then one merge.
///
/// Lines are sorted by key and timestamp, bytewise; lines that are equal in both keep the order in which they came.
struct CDXJSorter: ~Copyable {
    private let folder: String
    private let stem: String
    private let limits: Limits
    private var lines: [[UInt8]] = []
    private var byteCount = 0
    private var runs: [String] = []
    private var runNumber = 0

    /// Runs that are merged at a time, each with a file open and a buffer.
    private static let runsMax = 64

    /// - Parameters:
    ///   - folder: Where runs are kept until the sorter goes.
    ///   - stem: What their names begin with.
    init(folder: String, stem: String, limits: Limits) {
        self.folder = folder
        self.stem = stem
        self.limits = limits
    }

    deinit {
        for run in runs { unlink(run) }
    }

    /// Adds a line without its line end.
    mutating func add(_ line: [UInt8]) throws(WebArchiveError) {
        lines.append(line)
        // An array costs about 32 bytes beside its content.
        byteCount += line.count + 32
        if byteCount >= limits.sortedBytesMax { try spill() }
    }

    /// Gives every line in order. Nothing may be added afterwards.
    mutating func forEachSorted(_ body: ([UInt8]) throws(WebArchiveError) -> Void) throws(WebArchiveError) {
        guard !runs.isEmpty else {
            for line in takeSorted() { try body(line) }
            return
        }
        if !lines.isEmpty { try spill() }
        try merge(runs, body)
    }

    private mutating func takeSorted() -> [[UInt8]] {
        let sorted = lines.enumerated().sorted { left, right in
            let (first, second) = (CDXJLine.sortKey(of: left.element[...]), CDXJLine.sortKey(of: right.element[...]))
            if first.lexicographicallyPrecedes(second) { return true }
            return left.offset < right.offset && !second.lexicographicallyPrecedes(first)
        }
        lines = []
        byteCount = 0
        return sorted.map(\.element)
    }

    private mutating func spill() throws(WebArchiveError) {
        let output = try makeRun()
        for line in takeSorted() {
            try output.write(line)
            try output.write([0x0A])
        }
        try output.finish()
        runs.append(output.path)
        guard runs.count >= Self.runsMax else { return }
        let merged = try makeRun()
        // The merged run holds the oldest lines, so it goes first.
        let old = runs
        runs.append(merged.path)
        try merge(old) { (line) throws(WebArchiveError) in
            try merged.write(line)
            try merged.write([0x0A])
        }
        try merged.finish()
        for run in old { unlink(run) }
        runs = [merged.path]
    }

    private mutating func makeRun() throws(WebArchiveError) -> FileOutput {
        runNumber += 1
        return try FileOutput(path: "\(folder)/\(stem).run-\(runNumber).tmp")
    }

    private func merge(
        _ paths: [String], _ body: ([UInt8]) throws(WebArchiveError) -> Void
    ) throws(WebArchiveError) {
        var heads: [(line: [UInt8], run: Int)] = []
        var readers: [LineReader] = []
        for (number, path) in paths.enumerated() {
            let source = try FileByteSource(path: path)
            // A key that was made anew may be longer than the one it replaces.
            let reader = LineReader(
                SourceStream(source), capacity: 64 << 10, lineBytesMax: 4 * limits.indexLineBytesMax,
                skippedLineBytesMax: 4 * limits.indexLineBytesMax)
            readers.append(reader)
            if let line = try reader.next()?.bytes { heads.append((line, number)) }
        }
        heads.sort { Self.isBefore($1, $0) }
        while let head = heads.popLast() {
            try body(head.line)
            guard let line = try readers[head.run].next()?.bytes else { continue }
            let next = (line: line, run: head.run)
            let place = heads.lastIndex { Self.isBefore(next, $0) }.map { $0 + 1 } ?? 0
            heads.insert(next, at: place)
        }
    }

    private static func isBefore(_ left: (line: [UInt8], run: Int), _ right: (line: [UInt8], run: Int)) -> Bool {
        let (first, second) = (CDXJLine.sortKey(of: left.line[...]), CDXJLine.sortKey(of: right.line[...]))
        if first.lexicographicallyPrecedes(second) { return true }
        return left.run < right.run && !second.lexicographicallyPrecedes(first)
    }
}
