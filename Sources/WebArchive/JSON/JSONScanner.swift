/// Scans a JSON text, so that a reader can pick members and skip the rest without building them.
struct JSONScanner {
    /// The UTF-8 byte order mark that some Windows editors write. RFC 8259 §8.1 forbids it in JSON.
    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let bytes: [UInt8]
    private(set) var position: Int
    private let depthMax: Int
    private var depth = 0

    init(_ bytes: [UInt8], from position: Int = 0, depthMax: Int) {
        self.bytes = bytes
        self.position = position
        self.depthMax = depthMax
    }

    /// Reads a file that must be a JSON object. `member` receives each key and must consume its value.
    ///
    /// - Throws: `badJSON` with the position of the first error.
    static func readDescription(
        _ bytes: [UInt8], file: String, limits: Limits,
        _ member: (inout JSONScanner, String) throws(JSONProblem) -> Void
    ) throws(WebArchiveError) {
        do throws(JSONProblem) {
            guard !bytes.starts(with: [0xFE, 0xFF]), !bytes.starts(with: [0xFF, 0xFE]) else {
                throw JSONProblem(offset: 0, what: "it is UTF-16, not UTF-8")
            }
            var scanner = JSONScanner(bytes, depthMax: limits.jsonDepthMax)
            scanner.skipByteOrderMark()
            guard scanner.startsWith("{") else {
                try scanner.skipValue()
                throw JSONProblem(offset: 0, what: "it isn't an object")
            }
            try scanner.object(member)
            try scanner.expectEnd()
        } catch {
            throw WebArchiveError(
                code: .badJSON, problem: "the file isn't JSON: \(error.what)", file: file, offset: UInt64(error.offset)
            )
        }
    }

    mutating func skipByteOrderMark() {
        if bytes.starts(with: Self.byteOrderMark) { position = 3 }
    }

    mutating func expectEnd() throws(JSONProblem) {
        skipSpace()
        guard position == bytes.count else { throw problem("more text follows the JSON value") }
    }

    /// Reads an object. `member` receives each key and must consume its value.
    mutating func object(
        _ member: (inout JSONScanner, String) throws(JSONProblem) -> Void
    ) throws(JSONProblem) {
        try enter("{")
        if try leaves("}") { return }
        while true {
            skipSpace()
            let key = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw problem("':' is missing after a key") }
            try member(&self, key)
            if try closes("}") { return }
        }
    }

    /// Reads any value.
    mutating func value() throws(JSONProblem) -> JSONValue {
        skipSpace()
        guard position < bytes.count else { throw problem("the text ends where a value should be") }
        switch bytes[position] {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return try objectValue()
        case UInt8(ascii: "["): return try arrayValue()
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    /// Reads an array. `element` must consume each of its values. Skips other values.
    mutating func elements(
        _ element: (inout JSONScanner) throws(JSONProblem) -> Void
    ) throws(JSONProblem) {
        guard startsWith("[") else { return try skipValue() }
        try enter("[")
        if try leaves("]") { return }
        repeat { try element(&self) } while try !closes("]")
    }

    /// Reads a value but keeps only the members in `names` of objects `levels` deep, no arrays, and at most
    /// `textBytesMax` bytes of texts, so that the result is small for a value of any size.
    mutating func members(
        named names: Set<String>, levels: Int = 1, textBytesMax: Int
    ) throws(JSONProblem) -> JSONValue {
        if startsWith("\"") { return .string(try string(bytesMax: textBytesMax)) }
        guard startsWith("{") else {
            guard !startsWith("[") else {
                try skipValue()
                return .null
            }
            let scalar = try value()
            if case .number(let digits) = scalar, digits.utf8.count > textBytesMax { return .null }
            return scalar
        }
        var kept: [String: JSONValue] = [:]
        try object { (scanner, key) throws(JSONProblem) in
            guard levels > 0, names.contains(key) else { return try scanner.skipValue() }
            kept[key] = try scanner.members(named: names, levels: levels - 1, textBytesMax: textBytesMax)
        }
        return .object(kept)
    }

    /// Returns whether the next value begins with this character.
    mutating func startsWith(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        return position < bytes.count && bytes[position] == UInt8(ascii: character)
    }

    /// Reads a string, or a number as written. Skips other values and returns `nil`.
    ///
    /// - Parameter bytesMax: The maximum number of bytes of a string to keep.
    mutating func text(bytesMax: Int = .max) throws(JSONProblem) -> String? {
        skipSpace()
        guard position < bytes.count else { throw problem("the text ends where a value should be") }
        switch bytes[position] {
        case UInt8(ascii: "\""): return try string(bytesMax: bytesMax)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let digits = try number()
            return digits.utf8.count <= bytesMax ? digits : nil
        default:
            try skipValue()
            return nil
        }
    }

    /// Skips any value.
    mutating func skipValue() throws(JSONProblem) {
        skipSpace()
        guard position < bytes.count else { throw problem("the text ends where a value should be") }
        switch bytes[position] {
        case UInt8(ascii: "\""): _ = try stringByteCount()
        case UInt8(ascii: "{"):
            try object { (scanner, _) throws(JSONProblem) in try scanner.skipValue() }
        case UInt8(ascii: "["):
            try elements { (scanner) throws(JSONProblem) in try scanner.skipValue() }
        default: _ = try value()
        }
    }

    /// Reads a string.
    ///
    /// - Parameter bytesMax: The maximum number of UTF-8 bytes to keep.
    mutating func string(bytesMax: Int = .max) throws(JSONProblem) -> String {
        let start = try openString()
        var scan = position
        while scan < bytes.count, bytes[scan] != UInt8(ascii: "\""), bytes[scan] != UInt8(ascii: "\\") { scan += 1 }
        guard scan < bytes.count else { throw JSONProblem(offset: start, what: "a string has no closing quote") }
        if bytes[scan] == UInt8(ascii: "\"") {
            defer { position = scan + 1 }
            return try validated(Self.cut(bytes[position..<scan], to: bytesMax))
        }
        var decoded: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return try validated(Self.cut(decoded[...], to: bytesMax))
            case UInt8(ascii: "\\") where decoded.count <= bytesMax: try escape(into: &decoded)
            case UInt8(ascii: "\\"):
                var dropped: [UInt8] = []
                try escape(into: &dropped)
            default: if decoded.count <= bytesMax { decoded.append(byte) }
            }
        }
        throw JSONProblem(offset: start, what: "a string has no closing quote")
    }

    /// Returns the first `bytesMax` bytes of a UTF-8 text, without an incomplete last character.
    private static func cut(_ text: ArraySlice<UInt8>, to bytesMax: Int) -> ArraySlice<UInt8> {
        guard text.count > bytesMax else { return text }
        var end = text.startIndex + bytesMax
        while end > text.startIndex, text[end] & 0xC0 == 0x80 { end -= 1 }
        return text[..<end]
    }

    /// Skips a string without building it.
    ///
    /// - Returns: The length of the string in UTF-8 bytes.
    mutating func stringByteCount() throws(JSONProblem) -> Int {
        let start = try openString()
        var count = 0
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return count }
            if byte != UInt8(ascii: "\\") {
                count += 1
                continue
            }
            var piece: [UInt8] = []
            try escape(into: &piece)
            count += piece.count
        }
        throw JSONProblem(offset: start, what: "a string has no closing quote")
    }

    /// Calls `body` with each string, number and literal of a value, in order, and the name of the innermost member
    /// around it.
    mutating func eachLeaf(
        named name: String, _ body: (_ name: String, _ text: String) -> Void
    ) throws(JSONProblem) {
        skipSpace()
        switch position < bytes.count ? bytes[position] : 0 {
        case UInt8(ascii: "{"):
            try object { (scanner, key) throws(JSONProblem) in try scanner.eachLeaf(named: key, body) }
        case UInt8(ascii: "["):
            try elements { (scanner) throws(JSONProblem) in try scanner.eachLeaf(named: name, body) }
        default:
            switch try value() {
            case .string(let text): body(name, text)
            case .number(let text): body(name, Self.plain(text))
            case .bool(let isTrue): body(name, isTrue ? "true" : "false")
            case .null: body(name, "null")
            case .array, .object: break
            }
        }
    }

    /// Returns a whole number as JavaScript writes it: `2.0` is `2`.
    private static func plain(_ number: String) -> String {
        guard !number.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }),
            let value = Double(number), let whole = Int64(exactly: value)
        else { return number }
        return String(whole)
    }

    func problem(_ what: String) -> JSONProblem {
        JSONProblem(offset: position, what: what)
    }
}

extension JSONScanner {
    private mutating func objectValue() throws(JSONProblem) -> JSONValue {
        var members: [String: JSONValue] = [:]
        try object { (scanner, key) throws(JSONProblem) in members[key] = try scanner.value() }
        return .object(members)
    }

    private mutating func arrayValue() throws(JSONProblem) -> JSONValue {
        var values: [JSONValue] = []
        try elements { (scanner) throws(JSONProblem) in values.append(try scanner.value()) }
        return .array(values)
    }

    private mutating func enter(_ bracket: Unicode.Scalar) throws(JSONProblem) {
        skipSpace()
        guard take(UInt8(ascii: bracket)) else { throw problem("'\(bracket)' is missing") }
        depth += 1
        guard depth <= depthMax else { throw problem("more than \(depthMax) levels of nesting") }
    }

    /// Returns whether an object or array ends right after its opening bracket.
    private mutating func leaves(_ bracket: Unicode.Scalar) throws(JSONProblem) -> Bool {
        skipSpace()
        guard take(UInt8(ascii: bracket)) else { return false }
        depth -= 1
        return true
    }

    /// Returns whether an object or array ends after a value, and otherwise consumes the comma.
    private mutating func closes(_ bracket: Unicode.Scalar) throws(JSONProblem) -> Bool {
        if try leaves(bracket) { return true }
        guard take(UInt8(ascii: ",")) else { throw problem("',' or '\(bracket)' is missing") }
        return false
    }

    mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONProblem) -> JSONValue {
        let expected = word.description.utf8
        guard bytes[position...].starts(with: expected) else { throw problem("not a JSON value") }
        position += expected.count
        return value
    }

    private mutating func number() throws(JSONProblem) -> String {
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                position += 1
                continue
            default: break
            }
            break
        }
        guard position > start else { throw problem("not a JSON value") }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func openString() throws(JSONProblem) -> Int {
        skipSpace()
        guard take(UInt8(ascii: "\"")) else { throw problem("a string is missing") }
        return position - 1
    }

    private func validated(_ slice: ArraySlice<UInt8>) throws(JSONProblem) -> String {
        guard let text = slice.utf8Text else {
            throw JSONProblem(offset: position, what: "a string isn't UTF-8", isEncoding: true)
        }
        return text
    }

    private mutating func escape(into decoded: inout [UInt8]) throws(JSONProblem) {
        guard position < bytes.count else { throw problem("the text ends in an escape") }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): decoded.append(byte)
        case UInt8(ascii: "b"): decoded.append(0x08)
        case UInt8(ascii: "f"): decoded.append(0x0C)
        case UInt8(ascii: "n"): decoded.append(0x0A)
        case UInt8(ascii: "r"): decoded.append(0x0D)
        case UInt8(ascii: "t"): decoded.append(0x09)
        case UInt8(ascii: "u"): decoded.append(contentsOf: String(try escapedScalar()).utf8)
        default: throw problem("unknown escape in a string")
        }
    }

    /// Reads a `\u` escape, and a second one for a surrogate pair. A lone surrogate becomes U+FFFD.
    private mutating func escapedScalar() throws(JSONProblem) -> Character {
        let first = try hexUnit()
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        guard first < 0xDC00, bytes[position...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else {
            return "\u{FFFD}"
        }
        let before = position
        position += 2
        let second = try hexUnit()
        guard (0xDC00...0xDFFF).contains(second) else {
            position = before
            return "\u{FFFD}"
        }
        let combined = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
        return Unicode.Scalar(combined).map { Character($0) } ?? "\u{FFFD}"
    }

    private mutating func hexUnit() throws(JSONProblem) -> UInt32 {
        guard bytes.count - position >= 4 else { throw problem("the text ends in an escape") }
        var unit: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = byte.hexadecimalValue else {
                throw problem("an escape doesn't have four hex digits")
            }
            unit = unit << 4 | UInt32(digit)
        }
        position += 4
        return unit
    }
}
