/// Percent-encoding of URLs. RFC 3986 §2.1.
enum PercentEncoding {
    /// Decodes until no escape is left: `%2561` is `%61` is `a`.
    ///
    /// One pass is enough: each escape is decoded at its last digit, and the resulting byte may complete an earlier
    /// escape. Escapes never overlap, so the order of decoding doesn't matter.
    static func decodedRepeatedly(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "%")) else { return bytes }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        for byte in bytes {
            output.append(byte)
            while output.count > 2, output[output.count - 3] == UInt8(ascii: "%"),
                let high = output[output.count - 2].hexadecimalValue,
                let low = output[output.count - 1].hexadecimalValue
            {
                output.removeLast(3)
                output.append(high << 4 | low)
            }
        }
        return output
    }

    /// Decodes each escape once: `%2561` is `%61`. A percent sign without two hexadecimal digits stays.
    static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "%")) else { return bytes }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "%"), position + 2 < bytes.count,
                let high = bytes[position + 1].hexadecimalValue, let low = bytes[position + 2].hexadecimalValue
            {
                output.append(high << 4 | low)
                position += 3
            } else {
                output.append(bytes[position])
                position += 1
            }
        }
        return output
    }

    /// Encodes every byte for which `isKept` returns `false`, with upper-case digits unless `lowersDigits`.
    static func encoded(
        _ bytes: some Sequence<UInt8>, lowersDigits: Bool = false, keeping isKept: (UInt8) -> Bool
    ) -> [UInt8] {
        let digits = Array((lowersDigits ? "0123456789abcdef" : "0123456789ABCDEF").utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.underestimatedCount)
        for byte in bytes {
            if isKept(byte) {
                output.append(byte)
            } else {
                output.append(UInt8(ascii: "%"))
                output.append(digits[Int(byte >> 4)])
                output.append(digits[Int(byte & 15)])
            }
        }
        return output
    }

    /// Returns whether a text without its escapes is UTF-8.
    static func decodesAsUTF8(_ text: String) -> Bool {
        let bytes = decoded(Array(text.utf8))
        return bytes[...].utf8Text != nil
    }

    /// The forms in which keys hold escaped bytes that aren't UTF-8, besides their own escapes (`%fc`).
    enum InvalidForm: CaseIterable {
        /// Escapes whose percent signs are escaped: `%25fc`. Java tools: jwarc and, before 2025, webarchive-commons.
        case escapedTwice
        /// The escapes of U+FFFD: `%ef%bf%bd`. Tools that decode a URL before they make its key.
        case replaced
    }

    /// Returns a key of lower-case escapes with its invalid UTF-8 in another form; `nil` if all of its escapes are valid.
    static func rewritingInvalid(_ key: String, as form: InvalidForm) -> String? {
        let bytes = Array(key.utf8)
        var output: [UInt8] = []
        var isRewritten = false
        var position = 0
        func escaped(at place: Int) -> UInt8? {
            guard place + 2 < bytes.count, bytes[place] == UInt8(ascii: "%"),
                let high = bytes[place + 1].hexadecimalValue, let low = bytes[place + 2].hexadecimalValue
            else { return nil }
            return high << 4 | low
        }
        while position < bytes.count {
            var run: [UInt8] = []
            while let byte = escaped(at: position), byte >= 0x80 {
                run.append(byte)
                position += 3
            }
            var parser = Unicode.UTF8.ForwardParser()
            var unread = run.makeIterator()
            var left = run[...]
            while !left.isEmpty {
                switch parser.parseScalar(from: &unread) {
                case .valid(let scalar):
                    output += encoded(left.prefix(scalar.count), lowersDigits: true) { _ in false }
                    left.removeFirst(scalar.count)
                case .error(let length):
                    isRewritten = true
                    let invalid = encoded(left.prefix(length), lowersDigits: true) { _ in false }
                    output +=
                        form == .replaced
                        ? Array("%ef%bf%bd".utf8) : invalid.flatMap { $0 == 0x25 ? Array("%25".utf8) : [$0] }
                    left.removeFirst(length)
                case .emptyInput: left = []
                }
            }
            guard position < bytes.count else { break }
            output.append(bytes[position])
            position += 1
        }
        return isRewritten ? String(decoding: output, as: UTF8.self) : nil
    }
}
