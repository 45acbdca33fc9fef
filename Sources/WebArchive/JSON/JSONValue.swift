/// A JSON value. Numbers are kept as written, so that large offsets stay exact.
enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The member `key` of an object; `nil` if it's missing or `null`.
    subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self, let value = members[key], value != .null else { return nil }
        return value
    }

    var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The value of a string, or of a number as written.
    var text: String? {
        switch self {
        case .string(let text), .number(let text): text
        default: nil
        }
    }

    /// The value of a non-negative integer, written as a number or as a string.
    var unsigned: UInt64? { text.flatMap { UInt64($0) } }

    var array: [JSONValue]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    /// The value as JSON in several lines, with sorted keys.
    var serialized: [UInt8] {
        var text: [UInt8] = []
        append(to: &text, indentation: 0)
        return text + [0x0A]
    }

    private func append(to text: inout [UInt8], indentation: Int) {
        func addLine(_ indentation: Int) { text += [0x0A] + [UInt8](repeating: 0x20, count: 2 * indentation) }
        switch self {
        case .null: text += "null".utf8
        case .bool(let isTrue): text += (isTrue ? "true" : "false").utf8
        case .number(let number): text += number.utf8
        case .string(let string): JSONText.appendQuoted(string.utf8, to: &text)
        case .array(let values):
            text.append(UInt8(ascii: "["))
            for (position, value) in values.enumerated() {
                if position > 0 { text.append(UInt8(ascii: ",")) }
                addLine(indentation + 1)
                value.append(to: &text, indentation: indentation + 1)
            }
            if !values.isEmpty { addLine(indentation) }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for (position, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if position > 0 { text.append(UInt8(ascii: ",")) }
                addLine(indentation + 1)
                JSONText.appendQuoted(member.key.utf8, to: &text)
                text += ": ".utf8
                member.value.append(to: &text, indentation: indentation + 1)
            }
            if !members.isEmpty { addLine(indentation) }
            text.append(UInt8(ascii: "}"))
        }
    }

    /// Parses a JSON text. RFC 8259.
    static func parse(_ bytes: [UInt8], depthMax: Int) throws(JSONProblem) -> JSONValue {
        var scanner = JSONScanner(bytes, depthMax: depthMax)
        scanner.skipByteOrderMark()
        let value = try scanner.value()
        try scanner.expectEnd()
        return value
    }
}

/// The position and reason of a JSON error.
struct JSONProblem: Error, Sendable, Hashable {
    /// The byte offset in the text.
    let offset: Int
    let what: String
    /// Whether the text isn't valid UTF-8.
    var isEncoding = false
    /// Whether a value is longer than its limit.
    var isTooLong = false
}
