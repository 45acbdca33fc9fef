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
}
