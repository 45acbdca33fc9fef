import Foundation

/// The identifier of an archive or a collection: `[a-z0-9-]`, 1 to 63 characters, valid as a host label.
///
/// Source: RFC 1123 §2.1 (host labels). It never contains two hyphens in a row, because `xn--` marks an encoding.
package struct ArchiveID: Hashable, Sendable, Codable, RawRepresentable, CustomStringConvertible {
    package let text: String

    package var rawValue: String { text }
    package var description: String { text }

    package init?(rawValue: String) { self.init(rawValue) }

    /// Labels with another meaning in host names and URLs.
    static let reserved: Set<String> = ["all", "api", "capture", "localhost", "replayhost", "stock", "www"]

    /// Creates an id; `nil` if the text isn't a valid one.
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

    /// Makes a readable id from a file name or title, with `-2`, `-3` and so on if the plain one isn't free.
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

    private static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: ["-"]) }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == hyphen
    }

    private static let lengthMax = 63
    private static let hyphen = UInt8(ascii: "-")
}
