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
struct CDXJSorter {
    private let folder: String
    private let stem: String
    private let limits: Limits
    private var lines: [[UInt8]] = []
    private var byteCount = 0
    private var runs: [FileByteSource] = []

    /// Runs that are merged at a time, each with a file open and a buffer.
    private static let runsMax = 64

    /// - Parameters:
    ///   - folder: Where runs are kept, without a name as soon as they are made.
    ///   - stem: What their names begin with for that moment; one that nobody else uses when `nil`.
    init(folder: String, stem: String? = nil, limits: Limits) {
        self.folder = folder
        self.stem = stem ?? "lines-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        self.limits = limits
    }

    /// Adds a line without its line end.
    mutating func add(_ line: [UInt8]) throws(WebArchiveError) {
        lines.append(line)
        // An array costs about 32 bytes beside its content.
        byteCount += line.count + 32
        if byteCount >= limits.sortedBytesMax { try spill() }
    }

    /// Every line in order. Nothing may be added afterwards.
    mutating func sorted() throws(WebArchiveError) -> CDXJSortedLines {
        guard !runs.isEmpty else { return CDXJSortedLines(takeSorted()) }
        if !lines.isEmpty { try spill() }
        defer { runs = [] }
        return try CDXJSortedLines(merging: runs, limits: limits)
    }

    /// Gives every line in order. Nothing may be added afterwards.
    mutating func forEachSorted(_ body: ([UInt8]) throws(WebArchiveError) -> Void) throws(WebArchiveError) {
        let lines = try sorted()
        while let line = try lines.next() { try body(line) }
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
        runs.append(try Self.written(CDXJSortedLines(takeSorted()), to: RunFile(path: "\(folder)/\(stem).run.tmp")))
        guard runs.count >= Self.runsMax else { return }
        // The merged run holds the oldest lines, so it goes first.
        let merged = try CDXJSortedLines(merging: runs, limits: limits)
        runs = [try Self.written(merged, to: RunFile(path: "\(folder)/\(stem).run.tmp"))]
    }

    private static func written(
        _ lines: CDXJSortedLines, to file: RunFile
    ) throws(WebArchiveError) -> FileByteSource {
        while let line = try lines.next() {
            try file.output.write(line)
            try file.output.write([0x0A])
        }
        return try file.finish()
    }
}

/// A temporary file that loses its name as soon as it is open, so that nothing is left behind, however the program ends.
private final class RunFile {
    let output: FileOutput
    private var descriptor: Int32

    /// - Throws: `io`.
    init(path: String) throws(WebArchiveError) {
        output = try FileOutput(path: path)
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        let reason = String(cString: strerror(errno)).lowercased()
        unlink(path)
        guard descriptor >= 0 else {
            throw WebArchiveError(code: .io, problem: "a temporary file cannot be opened: \(reason)", file: "run.tmp")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Writes what is left; the file can be read from now on.
    func finish() throws(WebArchiveError) -> FileByteSource {
        try output.finish()
        let owned = descriptor
        descriptor = -1
        return try FileByteSource(ownedDescriptor: owned, name: "run.tmp")
    }
}

/// Sorted lines, one after another. Belongs to one thread.
final class CDXJSortedLines {
    private typealias Head = (line: [UInt8], run: Int)

    private var lines: ArraySlice<[UInt8]>
    private var readers: [LineReader] = []
    /// The first at the end.
    private var heads: [Head] = []

    /// Lines that are in order.
    init(_ lines: [[UInt8]]) {
        self.lines = lines[...]
    }

    /// Merges sorted runs; among equal lines those of an earlier run come first.
    init(merging runs: [FileByteSource], limits: Limits) throws(WebArchiveError) {
        lines = []
        for (number, run) in runs.enumerated() {
            // A key that was made anew may be longer than the one it replaces.
            let reader = LineReader(
                SourceStream(run), capacity: 64 << 10, lineBytesMax: 4 * limits.indexLineBytesMax,
                skippedLineBytesMax: 4 * limits.indexLineBytesMax)
            readers.append(reader)
            if let line = try reader.next()?.bytes { heads.append((line, number)) }
        }
        heads.sort { Self.isBefore($1, $0) }
    }

    /// The next line, or `nil` at the end.
    func next() throws(WebArchiveError) -> [UInt8]? {
        guard let head = heads.popLast() else { return lines.popFirst() }
        if let line = try readers[head.run].next()?.bytes {
            let next = (line: line, run: head.run)
            let place = heads.lastIndex { Self.isBefore(next, $0) }.map { $0 + 1 } ?? 0
            heads.insert(next, at: place)
        }
        return head.line
    }

    private static func isBefore(_ left: Head, _ right: Head) -> Bool {
        let (first, second) = (CDXJLine.sortKey(of: left.line[...]), CDXJLine.sortKey(of: right.line[...]))
        if first.lexicographicallyPrecedes(second) { return true }
        return left.run < right.run && !second.lexicographicallyPrecedes(first)
    }
}
