import Foundation

/// Encodes JSON for standard output, responses and events.
package enum JSONText {
    /// Returns the value as one line of JSON with sorted keys and without terminal or bidi control characters.
    package static func encoded(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return escapingControls(Array(try encoder.encode(value)))
    }

    /// Returns the same as text, for example for SQLite's `json_each`.
    package static func text(_ value: some Encodable) throws -> String {
        String(decoding: try encoded(value), as: UTF8.self)
    }

    /// Returns a text as a JSON string.
    static func quoted(_ text: String) -> String {
        var json: [UInt8] = []
        appendQuoted(text.utf8, to: &json)
        return String(decoding: json, as: UTF8.self)
    }

    /// Adds a text in UTF-8 as a JSON string.
    static func appendQuoted(_ text: some Collection<UInt8>, to json: inout [UInt8]) {
        json.append(UInt8(ascii: "\""))
        defer { json.append(UInt8(ascii: "\"")) }
        guard text.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
            json += text
            return
        }
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                json.append(UInt8(ascii: "\\"))
                json.append(byte)
            case 0..<0x20: json += escape(UInt16(byte))
            default: json.append(byte)
            }
        }
    }

    /// Returns the same JSON with DEL, C1 controls, bidi controls, U+2028 and U+2029 escaped as `\uXXXX`.
    ///
    /// RFC 8259 §7 requires escapes for C0 controls and allows them for every other character. JSON contains none of
    /// these characters outside strings. UAX #9 §2 lists the bidi controls.
    package static func escapingControls(_ json: [UInt8]) -> [UInt8] {
        guard json.contains(where: { $0 >= 0x7F }) else { return json }
        var escaped: [UInt8] = []
        escaped.reserveCapacity(json.count + 64)
        var position = 0
        while position < json.count {
            if json[position] >= 0x7F, let (scalar, length) = control(json[position...]) {
                escaped += escape(scalar)
                position += length
            } else {
                escaped.append(json[position])
                position += 1
            }
        }
        return escaped
    }

    /// Returns the character to escape at the start of `bytes`, and its length in UTF-8; `nil` for others.
    static func control(_ bytes: ArraySlice<UInt8>) -> (scalar: UInt16, length: Int)? {
        let (first, start) = (bytes[bytes.startIndex], bytes.startIndex)
        if first == 0x7F { return (0x7F, 1) }
        guard bytes.count >= 2 else { return nil }
        let second = bytes[start + 1]
        switch (first, second) {
        case (0xC2, 0x80...0x9F): return (UInt16(second), 2)
        case (0xD8, 0x9C): return (0x061C, 2)
        case (0xE2, 0x80), (0xE2, 0x81):
            guard bytes.count >= 3 else { return nil }
            let scalar = 0x2000 | UInt16(second & 0x3F) << 6 | UInt16(bytes[start + 2] & 0x3F)
            switch scalar {
            case 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: return (scalar, 3)
            default: return nil
            }
        default: return nil
        }
    }

    private static func escape(_ scalar: UInt16) -> [UInt8] {
        Array("\\u\([UInt8(scalar >> 8), UInt8(scalar & 0xFF)].hexadecimal)".utf8)
    }
}
