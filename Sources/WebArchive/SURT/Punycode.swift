/// Converts host names from and to ASCII. RFC 3492. Letters are lowered, without the other steps of RFC 3491.
enum Punycode {
    private static let base: UInt32 = 36
    private static let tMin: UInt32 = 1
    private static let tMax: UInt32 = 26
    /// The maximum length of a label to convert. Longer ones aren't host names, and converting takes quadratic time.
    private static let labelScalarsMax = 255
    /// The maximum size of a host to convert. RFC 1035 §3.1: 255 letters, which have up to four bytes each.
    private static let hostBytesMax = 4 * 255

    /// Returns a host name with non-ASCII labels as `xn--…`, or the name itself if a label can't be encoded.
    static func asciiHost(_ host: String) -> String {
        guard !host.utf8.allSatisfy({ $0 < 0x80 }), host.utf8.count <= hostBytesMax else { return host }
        return host.lowercased().split(separator: ".", omittingEmptySubsequences: false).map { label in
            guard !label.utf8.allSatisfy({ $0 < 0x80 }) else { return String(label) }
            return encoded(Array(label.unicodeScalars)).map { "xn--\($0)" } ?? String(label)
        }.joined(separator: ".")
    }

    /// Returns a host name with `xn--…` labels decoded, or `nil` if there are none or one can't be decoded.
    static func unicodeHost(_ host: String) -> String? {
        guard host.utf8.count <= hostBytesMax, host.contains("xn--") else { return nil }
        var labels: [String] = []
        for label in host.split(separator: ".", omittingEmptySubsequences: false) {
            guard label.hasPrefix("xn--") else {
                labels.append(String(label))
                continue
            }
            guard let letters = decoded(label.dropFirst(4)) else { return nil }
            labels.append(letters)
        }
        return labels.joined(separator: ".")
    }

    private static func encoded(_ scalars: [Unicode.Scalar]) -> String? {
        guard scalars.count <= labelScalarsMax else { return nil }
        var output = scalars.filter(\.isASCII).map { UInt8($0.value) }
        let basicCount = UInt32(output.count)
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var code: UInt32 = 0x80
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        var handled = basicCount
        while handled < scalars.count {
            guard let next = scalars.lazy.map(\.value).filter({ $0 >= code }).min() else { return nil }
            delta += (next - code) * (handled + 1)
            code = next
            for scalar in scalars {
                if scalar.value < code { delta += 1 }
                guard scalar.value == code else { continue }
                append(delta, bias: bias, to: &output)
                bias = adapted(delta, points: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            code += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func append(_ delta: UInt32, bias: UInt32, to output: inout [UInt8]) {
        var rest = delta
        var position = base
        while true {
            let threshold = threshold(position, bias)
            if rest < threshold { break }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        output.append(digit(rest))
    }

    private static func decoded(_ text: Substring) -> String? {
        let bytes = Array(text.utf8)
        guard bytes.count <= labelScalarsMax, bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        let split = bytes.lastIndex(of: UInt8(ascii: "-"))
        var scalars = (split.map { bytes[..<$0] } ?? []).map { UInt32($0) }
        var rest = bytes[(split.map { $0 + 1 } ?? 0)...]
        var code: UInt32 = 0x80
        var index: UInt32 = 0
        var bias: UInt32 = 72
        while !rest.isEmpty {
            guard let sum = takeNumber(&rest, start: index, bias: bias) else { return nil }
            let points = UInt32(scalars.count) + 1
            bias = adapted(sum - index, points: points, isFirst: index == 0)
            let (next, overflow) = code.addingReportingOverflow(sum / points)
            guard !overflow else { return nil }
            code = next
            index = sum % points
            scalars.insert(code, at: Int(index))
            index += 1
        }
        let letters = scalars.compactMap { Unicode.Scalar($0) }
        return letters.count == scalars.count ? String(String.UnicodeScalarView(letters)) : nil
    }

    /// Reads one variable-length number and adds it to `start`.
    private static func takeNumber(_ rest: inout ArraySlice<UInt8>, start: UInt32, bias: UInt32) -> UInt32? {
        var sum = start
        var weight: UInt32 = 1
        var position = base
        while let byte = rest.popFirst() {
            guard let digit = value(byte) else { return nil }
            let (step, overflow) = digit.multipliedReportingOverflow(by: weight)
            let (next, overflowToo) = sum.addingReportingOverflow(step)
            guard !overflow, !overflowToo else { return nil }
            sum = next
            let threshold = threshold(position, bias)
            if digit < threshold { return sum }
            let (heavier, tooHeavy) = weight.multipliedReportingOverflow(by: base - threshold)
            guard !tooHeavy else { return nil }
            weight = heavier
            position += base
        }
        return nil
    }

    private static func threshold(_ position: UInt32, _ bias: UInt32) -> UInt32 {
        position <= bias ? tMin : min(tMax, max(tMin, position - bias))
    }

    private static func adapted(_ delta: UInt32, points: UInt32, isFirst: Bool) -> UInt32 {
        var rest = isFirst ? delta / 700 : delta / 2
        rest += rest / points
        var bias: UInt32 = 0
        while rest > (base - tMin) * tMax / 2 {
            rest /= base - tMin
            bias += base
        }
        return bias + (base - tMin + 1) * rest / (rest + 38)
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "0") + UInt8(value - 26)
    }

    private static func value(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a"))
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 26
        default: nil
        }
    }
}
