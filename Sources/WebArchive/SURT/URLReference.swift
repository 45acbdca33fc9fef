#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// References to URLs, as in `Location` and in links.
package enum URLReference {
    /// Resolves a reference. RFC 3986 §5.2. Absolute URLs are returned unchanged.
    ///
    /// - Returns: `nil` if it isn't a valid reference.
    package static func resolve(_ reference: String, against base: String) -> String? {
        if isAbsolute(reference) { return reference }
        guard let base = URL(string: base) else { return nil }
        return URL(string: reference, relativeTo: base)?.absoluteString
    }

    /// Whether the text starts with a scheme (RFC 3986 §3.1), not just a host with a port (`example.org:80`).
    package static func isAbsolute(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = text[..<colon].utf8
        guard let first = scheme.first, isLetter(first) else { return false }
        guard scheme.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || "+-".utf8.contains($0) }) else {
            return false
        }
        let port = text[colon...].dropFirst().prefix { !"/?#".contains($0) }
        return port.isEmpty || !port.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
