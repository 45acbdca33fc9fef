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

    /// Parses field lines one by one. Ignores lines without a colon, which some servers send.
    ///
    /// Source: RFC 9112 §5 with obsolete line folding (§5.2), which WARC 1.1 "named-field" uses too.
    struct Parser {
        private var finished: [Field] = []
        /// The last field, whose value may go on in the next line.
        private var name: String?
        private var value: [UInt8] = []

        mutating func add(_ line: [UInt8]) {
            if let first = line.first, first == 0x20 || first == 0x09, name != nil {
                if !value.isEmpty { value.append(0x20) }
                value += HeaderFields.withoutSpace(line[...])
                return
            }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return }
            finishField()
            name = HeaderFields.trimmed(line[..<colon])
            value = Array(HeaderFields.withoutSpace(line[(colon + 1)...]))
        }

        mutating func finish() -> HeaderFields {
            finishField()
            return HeaderFields(finished)
        }

        private mutating func finishField() {
            guard let name else { return }
            finished.append(Field(name: name, value: HeaderFields.text(value[...])))
            self.name = nil
        }
    }

    /// Returns the text without surrounding white space, decoded as UTF-8 if valid and otherwise as ISO 8859-1.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> String { text(withoutSpace(bytes)) }

    private static func withoutSpace(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = bytes.firstIndex { $0 != 0x20 && $0 != 0x09 } ?? bytes.endIndex
        let end = bytes[start...].lastIndex { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }
        return bytes[start..<(end.map { $0 + 1 } ?? start)]
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.utf8Text ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private static func same(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { $0 == $1 || $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension BufferedInput {
    /// Reads a first line and fields, up to and including an empty line, or up to the end of the input.
    ///
    /// - Throws: `tooLarge` if they have more than `bytesMax` bytes or `linesMax` lines.
    func readHead(bytesMax: Int, linesMax: Int) throws(WebArchiveError) -> (first: [UInt8], fields: HeaderFields) {
        let start = offset
        var first: [UInt8]?
        var parser = HeaderFields.Parser()
        for _ in 0...max(linesMax, 1) {
            let used = Int(clamping: offset - start)
            guard used <= bytesMax else { throw headTooLarge("\(bytesMax) bytes", start) }
            guard let line = try readLine(limit: bytesMax - used), !line.isEmpty else {
                return (first ?? [], parser.finish())
            }
            if first == nil { first = line } else { parser.add(line) }
        }
        throw headTooLarge("\(linesMax) lines", start)
    }

    private func headTooLarge(_ limit: String, _ start: UInt64) -> WebArchiveError {
        WebArchiveError(code: .tooLarge, problem: "a header has more than \(limit)", file: name, offset: start)
    }
}
