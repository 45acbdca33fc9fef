import Foundation

/// An absolute `http` or `https` URL, kept as it was given. RFC 3986 §3.
public struct WebURL: Sendable, Hashable {
    /// The URL as it was given.
    public let text: String
    /// The host in lower case, without a port: `example.org`, `127.0.0.1` or `[::1]`.
    public let host: String
    /// The path, without query and fragment; empty if there is none.
    public let path: String

    /// The allowed lengths of a URL, in characters.
    public static let lengths = 10...2048

    /// Parses a URL.
    ///
    /// - Returns: `nil` for another scheme, a URL with user information, an invalid host or port, white space or control
    ///   characters, and a length outside `lengths`.
    public init?(_ text: String) {
        guard Self.lengths.contains(text.unicodeScalars.count), text.unicodeScalars.allSatisfy(Self.isAllowed),
            let scheme = ["http://", "https://"].first(where: { text.lowercased().hasPrefix($0) })
        else { return nil }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { !"/?#".contains($0) }
        guard let host = Self.host(of: authority) else { return nil }
        self.text = text
        self.host = host
        path = String(rest.dropFirst(authority.count).prefix { !"?#".contains($0) })
    }

    /// Finds the first URL in a text that someone shared, such as `Look! https://example.org/a, via App`.
    ///
    /// The rules are those of `urls.js`: a URL ends at white space, and at quotation marks and brackets that URLs contain only
    /// percent-encoded; punctuation at its end isn't part of it.
    ///
    /// Except that a text that begins with a URL isn't cut within its first word: that is an invalid URL.
    ///
    /// - Returns: `nil` if there is none, or if the first one isn't valid.
    public init?(firstIn text: String) {
        let text = text.drop(while: \.isWhitespace)
        guard let start = text.range(of: "https?://", options: [.regularExpression, .caseInsensitive])?.lowerBound
        else { return nil }
        let isFirst = start == text.startIndex
        var found = text[start...].prefix { !$0.isWhitespace && (isFirst || !Self.ends.contains($0)) }
        while let last = found.last, Self.trailing.contains(last) || Self.closesNothing(found) { found.removeLast() }
        self.init(String(found))
    }

    private static let ends: Set<Character> = Set("<>\"`“”„«»‹›「」『』【】（）《》〈〉、。")
    private static let trailing: Set<Character> = Set(".,;:!?'’…|\\}！？，．；：")

    /// Whether the last character is a bracket without its partner: `(see https://a.example/b)`.
    private static func closesNothing(_ text: Substring) -> Bool {
        guard let last = text.last, let opening: Character = [")": "(", "]": "["][last] else { return false }
        return text.count { $0 == last } > text.count { $0 == opening }
    }

    /// Whether the host is a name or below it: `www.example.org` is at `example.org`, `badexample.org` isn't.
    public func isAt(_ name: String) -> Bool { host == name || host.hasSuffix(".\(name)") }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .spaceSeparator, .lineSeparator, .paragraphSeparator: false
        default: !"\\<>\"`".unicodeScalars.contains(scalar)
        }
    }

    /// Returns the host of an authority; `nil` if it isn't valid or has user information.
    private static func host(of authority: Substring) -> String? {
        let isLiteral = authority.hasPrefix("[")
        guard !authority.contains("@"), !isLiteral || authority.contains("]") else { return nil }
        let name = isLiteral ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        let port = authority.dropFirst(name.count)
        guard port.isEmpty || isPort(port) else { return nil }
        let host = name.lowercased()
        if isLiteral {
            let digits = host.dropFirst().dropLast()
            guard digits.contains(":"), digits.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
                return nil
            }
            return host
        }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let isValid = labels.enumerated().allSatisfy { place, label in
            // A dot at the end marks a complete name.
            if label.isEmpty { return place > 0 && place == labels.count - 1 }
            return label.utf8.count <= 63 && !label.hasPrefix("-")
                && label.unicodeScalars.allSatisfy {
                    $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "-" || $0 == "_"
                        || $0.properties.generalCategory == .nonspacingMark
                }
        }
        return isValid && host.utf8.count <= 253 ? host : nil
    }

    private static func isPort(_ text: Substring) -> Bool {
        let digits = text.dropFirst()
        guard text.hasPrefix(":"), !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
            return false
        }
        return Int(digits).map { (1...65_535).contains($0) } ?? false
    }
}
