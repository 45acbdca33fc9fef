/// The named fields of a WARC record's header or an HTTP message's head, in their original order.
public struct HeaderFields: Sendable, Hashable {
    /// A header field.
    public struct Field: Sendable, Hashable {
        /// The name as written.
        public let name: String
        /// The value without surrounding white space. Folded lines are joined with a space.
        public let value: String

        /// Creates a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All fields, in order.
    public let fields: [Field]

    /// Creates a list of fields.
    public init(_ fields: [Field]) {
        self.fields = fields
    }

    /// The first value of a field. Names are case-insensitive.
    public subscript(name: String) -> String? {
        fields.first { Self.same($0.name, name) }?.value
    }

    /// Returns all values of a field, in order. Names are case-insensitive.
    public func all(_ name: String) -> [String] {
        fields.filter { Self.same($0.name, name) }.map(\.value)
    }

    /// Parses field lines. Ignores lines without a colon, which some servers send.
    ///
    /// Source: RFC 9112 §5 with obsolete line folding (§5.2), which WARC 1.1 "named-field" uses too.
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

    /// Returns the text without surrounding white space, decoded as UTF-8 if valid and otherwise as ISO 8859-1.
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
    /// Reads lines up to and including an empty one, or up to the end of the input.
    ///
    /// - Throws: `tooLarge` if they exceed `limit` bytes.
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
