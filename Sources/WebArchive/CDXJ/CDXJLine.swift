/// An index line and its position.
struct CDXJLine: Sendable {
    /// The position of a line among all index lines of an archive, in the order in which a scan reads them.
    struct Position: Sendable, Hashable, Comparable {
        /// The position of the index file among those of the archive.
        let file: Int
        /// The byte offset of the line, or of the compressed block that contains it.
        let offset: UInt64
        /// The number of the line in the block, counted from 0.
        var line = 0

        static func < (left: Position, right: Position) -> Bool {
            (left.file, left.offset, left.line) < (right.file, right.offset, right.line)
        }
    }

    let position: Position
    /// The line without its line ending.
    let bytes: [UInt8]

    /// The part that lines are sorted by: the key, a space and the digits of the timestamp.
    var sortKey: ArraySlice<UInt8> { Self.sortKey(of: bytes[...]) }

    /// The URL key.
    var urlKey: ArraySlice<UInt8> { bytes.prefix { $0 != 0x20 } }

    /// The time of the capture, read without parsing the JSON; `nil` if the timestamp isn't valid.
    var captureTime: CaptureTimestamp? {
        CaptureTimestamp(digits: String(decoding: sortKey.drop { $0 != 0x20 }.dropFirst(), as: UTF8.self))
    }

    /// Whether the key contains a request method, as keys of `POST` captures do.
    var namesMethod: Bool { Self.namesMethod(urlKey) }

    /// Returns whether a key contains a request method, as keys of `POST` captures do.
    static func namesMethod(_ key: ArraySlice<UInt8>) -> Bool { methodStart(in: key) != nil }

    /// Returns the position of `__wb_method=` in a key or a URL.
    static func methodStart(in text: ArraySlice<UInt8>) -> Int? {
        text.firstRange(ofBytes: method)?.lowerBound
    }

    static func sortKey(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let space = line.firstIndex(of: 0x20) else { return line }
        var end = space + 1
        while end < line.endIndex, line[end].isASCIIDigit { end += 1 }
        return line[..<end]
    }

    /// Returns whether a line is a header or blank, rather than a capture.
    static func isHeader(_ line: [UInt8], number: Int?) -> Bool {
        line.isEmpty || line.starts(with: "!meta".utf8) || line.starts(with: " CDX ".utf8)
            || (number == 1 && line.starts(with: "CDX ".utf8))
    }

    private static let method = Array("__wb_method=".utf8)
}

/// A half-open range of index lines, from `start` up to `end`, compared bytewise.
struct CDXJRange: Sendable, Hashable {
    let start: [UInt8]
    let end: [UInt8]
    /// Whether the range includes only lines whose key contains a request method.
    var needsMethod = false

    func contains(_ line: [UInt8]) -> Bool {
        !line.lexicographicallyPrecedes(start) && line.lexicographicallyPrecedes(end)
    }
}

extension CDXJRange {
    /// Creates the range of all lines that begin with `prefix`, which must not be empty.
    init(prefix: String) {
        let start = Array(prefix.utf8)
        var end = start
        // UTF-8 has no byte 0xFF, so the last byte can always be incremented.
        end[end.count - 1] += 1
        self.init(start: start, end: end)
    }
}
