import Foundation

/// An archive's name in its store: `[a-z0-9-]`, 1 to 63 characters, safe as a host label and as a collection name.
///
/// Source: RFC 1123 §2.1 (host labels). Two hyphens in a row never occur, since browsers read `xn--` as an encoding.
package struct ArchiveID: Hashable, Sendable, Codable, RawRepresentable, CustomStringConvertible {
    package let text: String

    package var rawValue: String { text }
    package var description: String { text }

    package init?(rawValue: String) { self.init(rawValue) }

    /// Names that a host label could be confused with.
    static let reserved: Set<String> = ["all", "api", "localhost", "replayhost", "stock", "www"]

    /// Takes a well-formed id; `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard (1...Self.lengthMax).contains(bytes.count), bytes.allSatisfy(Self.isAllowed) else { return nil }
        guard bytes.first != Self.hyphen, bytes.last != Self.hyphen else { return nil }
        guard !zip(bytes, bytes.dropFirst()).contains(where: { $0 == Self.hyphen && $1 == Self.hyphen }) else {
            return nil
        }
        guard !Self.reserved.contains(String(text)) else { return nil }
        self.text = String(text)
    }

    /// Makes a readable id of a file name or title, ending in `-2`, `-3`… when `isFree` says that it is taken.
    package static func readable(from name: String, isFree: (ArchiveID) throws -> Bool) rethrows -> ArchiveID {
        var slug = slug(of: name)
        if slug.isEmpty || reserved.contains(slug) { slug = slug.isEmpty ? "archive" : "archive-\(slug)" }
        var number = 1
        while true {
            let suffix = number == 1 ? "" : "-\(number)"
            let stem = trimmed(String(slug.prefix(lengthMax - suffix.count)))
            if let id = ArchiveID(stem + suffix), try isFree(id) { return id }
            number += 1
        }
    }

    private static func slug(of name: String) -> String {
        var slug = ""
        for scalar in name.decomposedStringWithCompatibilityMapping.lowercased().unicodeScalars {
            if scalar.isASCII, isAllowed(UInt8(scalar.value)), scalar != "-" {
                slug.unicodeScalars.append(scalar)
            } else if !scalar.properties.isDiacritic, scalar.properties.canonicalCombiningClass == .notReordered,
                !slug.hasSuffix("-")
            {
                slug += "-"
            }
        }
        return trimmed(String(trimmed(slug).prefix(lengthMax)))
    }

    private static func trimmed(_ text: String) -> String {
        var text = Substring(text)
        while text.hasPrefix("-") { text.removeFirst() }
        while text.hasSuffix("-") { text.removeLast() }
        return String(text)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == hyphen
    }

    private static let lengthMax = 63
    private static let hyphen = UInt8(ascii: "-")
}
