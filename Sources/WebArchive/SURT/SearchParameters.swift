/// The arguments of a query, sorted and encoded like `URLSearchParams`, which warcio.js used for keys before 2.3.
///
/// Source: WHATWG URL, "application/x-www-form-urlencoded" and `URLSearchParams.sort()`: `%20` becomes `+`, `:` becomes
/// `%3A`, `a` becomes `a=`, and empty arguments are dropped.
struct SearchParameters {
    private struct Argument {
        let name: [UInt8]
        let value: [UInt8]
        /// Whether the argument has no `=` in the query.
        let isBare: Bool
        let place: Int
    }

    private let arguments: [Argument]
    /// Whether arguments aren't UTF-8: those of different URLs look the same here.
    let isLossy: Bool

    init(_ query: String) {
        var arguments: [Argument] = []
        for text in Array(query.utf8).split(separator: UInt8(ascii: "&")) {
            let equals = text.firstIndex(of: UInt8(ascii: "="))
            arguments.append(
                Argument(
                    name: Self.decoded(text[..<(equals ?? text.endIndex)]),
                    value: equals.map { Self.decoded(text[($0 + 1)...]) } ?? [], isBare: equals == nil,
                    place: arguments.count))
        }
        arguments.sort { Self.precedes($0, $1) }
        isLossy = query.utf8.contains(UInt8(ascii: "%")) && !PercentEncoding.decodesAsUTF8(query)
        self.arguments = arguments
    }

    /// The query in both spellings: versions before 1.5.1 add a missing `=` to each argument; later ones don't, if the
    /// name has no escapes.
    var spellings: [String] {
        let added = text { _ in false }
        guard arguments.contains(where: \.isBare) else { return [added] }
        let emptyNames = Set(arguments.lazy.filter { !$0.isBare && $0.value.isEmpty }.map(\.name))
        let kept = text { $0.isBare && $0.name.allSatisfy(Self.isKept) && !emptyNames.contains($0.name) }
        return [added, kept]
    }

    private func text(leavesBare: (Argument) -> Bool) -> String {
        var text: [UInt8] = []
        for argument in arguments {
            if !text.isEmpty { text.append(UInt8(ascii: "&")) }
            text += Self.encoded(argument.name)
            guard !leavesBare(argument) else { continue }
            text.append(UInt8(ascii: "="))
            text += Self.encoded(argument.value)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns whether an argument sorts before another one: by UTF-16 code units of the name, then by position.
    private static func precedes(_ left: Argument, _ right: Argument) -> Bool {
        guard let place = left.name.indices.first(where: { $0 >= right.name.count || left.name[$0] != right.name[$0] })
        else { return left.name.count < right.name.count || left.place < right.place }
        guard place < right.name.count else { return false }
        // In UTF-16, surrogates sort before U+E000 to U+FFFF. In UTF-8, the same characters sort after them.
        func rank(_ byte: UInt8) -> UInt8 { byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte }
        return rank(left.name[place]) < rank(right.name[place])
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let bytes = PercentEncoding.decoded(text.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 })
        // Invalid UTF-8 becomes U+FFFD.
        return bytes.allSatisfy { $0 < 0x80 } ? bytes : Array(String(decoding: bytes, as: UTF8.self).utf8)
    }

    private static func encoded(_ text: [UInt8]) -> [UInt8] {
        if text.allSatisfy(isKept) { return text }
        return PercentEncoding.encoded(text) { isKept($0) || $0 == 0x20 }
            .map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }
    }

    private static func isKept(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || "*-._".utf8.contains(byte)
    }
}
