/// One line of an index as it was found, and where.
struct CDXJLine: Sendable {
    /// Where a line is among all lines of a package, in the order in which a scan meets them.
    struct Position: Sendable, Hashable, Comparable {
        /// Place of the index file among those of the package.
        let file: Int
        /// Byte offset of the line, or of the compressed block it is in.
        let offset: UInt64
        /// Line in the block, counted from 0.
        var line = 0

        static func < (left: Position, right: Position) -> Bool {
            (left.file, left.offset, left.line) < (right.file, right.offset, right.line)
        }
    }

    let position: Position
    /// Without the line end.
    let bytes: [UInt8]

    /// What lines are sorted by: the key, a space and the digits of the timestamp.
    var sortKey: ArraySlice<UInt8> { Self.sortKey(of: bytes[...]) }

    /// The URL key.
    var urlKey: ArraySlice<UInt8> { bytes.prefix { $0 != 0x20 } }

    /// The time, read from the timestamp alone; `nil` when it is none.
    var captureTime: CaptureTimestamp? {
        CaptureTimestamp(digits: String(decoding: sortKey.drop { $0 != 0x20 }.dropFirst(), as: UTF8.self))
    }

    /// Whether the key carries a request method, as keys of `POST` captures do.
    var namesMethod: Bool { Self.namesMethod(urlKey) }

    /// Whether a key carries a request method, as keys of `POST` captures do.
    static func namesMethod(_ key: ArraySlice<UInt8>) -> Bool { methodStart(in: key) != nil }

    /// Where `__wb_method=` stands in a key or a URL.
    static func methodStart(in text: ArraySlice<UInt8>) -> Int? {
        text.firstRange(ofBytes: method)?.lowerBound
    }

    static func sortKey(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let space = line.firstIndex(of: 0x20) else { return line }
        var end = space + 1
        while end < line.endIndex, HTTPURLParts.isDigit(line[end]) { end += 1 }
        return line[..<end]
    }

    /// Whether a line says something about the index, or nothing, rather than naming a capture.
    static func isHeader(_ line: [UInt8], number: Int?) -> Bool {
        line.isEmpty || line.starts(with: "!meta".utf8) || line.starts(with: " CDX ".utf8)
            || (number == 1 && line.starts(with: "CDX ".utf8))
    }

    private static let method = Array("__wb_method=".utf8)
}

/// A range of lines: those which are not below `start` and below `end`, bytewise.
struct CDXJRange: Sendable, Hashable {
    let start: [UInt8]
    let end: [UInt8]
    /// Whether only lines whose key names a request method are meant.
    var needsMethod = false

    init(start: [UInt8], end: [UInt8], needsMethod: Bool = false) {
        self.start = start
        self.end = end
        self.needsMethod = needsMethod
    }

    /// The lines that begin with `prefix`, which must not be empty.
    init(prefix: String) {
        start = Array(prefix.utf8)
        var end = start
        // UTF-8 has no byte 0xFF, so the last byte can always be raised.
        end[end.count - 1] += 1
        self.end = end
    }

    func contains(_ line: [UInt8]) -> Bool {
        !line.lexicographicallyPrecedes(start) && line.lexicographicallyPrecedes(end)
    }
}
