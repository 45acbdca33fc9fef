/// Named fields in the order they were written, as in a WARC record's header and in an HTTP message's head.
public struct HeaderFields: Sendable, Hashable {
    /// One field.
    public struct Field: Sendable, Hashable {
        /// The name as written.
        public let name: String
        /// The value without surrounding white space, folded lines joined by one space.
        public let value: String

        /// Makes a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Every field, in order.
    public let fields: [Field]

    /// Makes a list of fields.
    public init(_ fields: [Field]) {
        self.fields = fields
    }

    /// The first value of a name, whatever its case.
    public subscript(name: String) -> String? {
        fields.first { Self.same($0.name, name) }?.value
    }

    /// Every value of a name, whatever its case, in order.
    public func all(_ name: String) -> [String] {
        fields.filter { Self.same($0.name, name) }.map(\.value)
    }

    /// Parses field lines. A line without a colon is dropped, as archives hold what servers really sent.
    ///
    /// Source: RFC 9112 §5 with obsolete line folding (§5.2); WARC 1.1 "named-field" folds in the same way.
    init(lines: [[UInt8]]) {
        var fields: [Field] = []
        for line in lines {
            if let first = line.first, first == 0x20 || first == 0x09, let last = fields.popLast() {
                let more = Self.trimmed(line[...])
                fields.append(Field(name: last.name, value: last.value.isEmpty ? more : "\(last.value) \(more)"))
                continue
            }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { continue }
            fields.append(Field(name: Self.trimmed(line[..<colon]), value: Self.trimmed(line[(colon + 1)...])))
        }
        self.fields = fields
    }

    /// Text without white space around it; UTF-8 when it is, else ISO 8859-1, which HTTP once meant.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        var slice = bytes
        while let first = slice.first, first == 0x20 || first == 0x09 { slice.removeFirst() }
        while let last = slice.last, last == 0x20 || last == 0x09 || last == 0x0D { slice.removeLast() }
        return slice.utf8Text ?? String(String.UnicodeScalarView(slice.map { Unicode.Scalar($0) }))
    }

    private static func same(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { $0 == $1 || lower($0) == lower($1) }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension BufferedInput {
    /// Reads lines up to an empty one, which is consumed too; the end of the input also ends them.
    ///
    /// - Throws: `tooLarge` when they take more than `limit` bytes.
    func readHeadLines(limit: Int) throws(WebArchiveError) -> [[UInt8]] {
        let start = offset
        var lines: [[UInt8]] = []
        while true {
            let used = Int(clamping: offset - start)
            guard used <= limit else {
                throw WebArchiveError(
                    code: .tooLarge, problem: "a header has more than \(limit) bytes", file: name, offset: start)
            }
            guard let line = try readLine(limit: limit - used), !line.isEmpty else { return lines }
            lines.append(line)
        }
    }
}
