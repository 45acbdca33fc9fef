import Foundation

/// Operations on captured URLs, which stay as they were recorded.
package enum CapturedURL {
    /// Resolves a reference. RFC 3986 §5.2. Absolute URLs are returned unchanged.
    ///
    /// - Returns: `nil` if it isn't a valid reference.
    package static func resolve(_ reference: String, against base: String) -> String? {
        if isAbsolute(reference) { return reference }
        guard let base = URL(string: base) else { return nil }
        return URL(string: reference, relativeTo: base)?.absoluteString
    }

    /// The parts of an `http` or `https` URL, as written.
    struct Parts: Sendable, Hashable {
        let scheme: String
        let host: String
        /// The port with its colon; may be empty.
        let port: String
        /// The path, at least a slash.
        let path: String
        /// The query with its question mark; may be empty.
        let query: String

        /// Parses a URL; `nil` for other schemes.
        init?(_ url: String) {
            guard
                let match = url.prefixMatch(
                    of: /(https?):\/\/(?:[^\/?#@]*@)?(\[[^\]]*\]|[^\/?#:]*)(:\d*)?/.ignoresCase()),
                !match.2.isEmpty
            else { return nil }
            (scheme, host, port) = (match.1.lowercased(), String(match.2), String(match.3 ?? ""))
            let rest = url[match.range.upperBound...].prefix { $0 != "#" }
            let path = rest.prefix { $0 != "?" }
            self.path = path.isEmpty ? "/" : String(path)
            query = String(rest[path.endIndex...])
        }
    }

    /// Returns the host name of an `http` or `https` URL, in lower case.
    static func host(of url: String) -> String? { Parts(url)?.host.lowercased() }

    /// Returns the file name extension of an `http` or `https` URL, in lower case; `nil` if it has none.
    static func fileExtension(of url: String) -> String? {
        guard let name = Parts(url)?.path.split(separator: "/", omittingEmptySubsequences: false).last,
            let dot = name.lastIndex(of: "."), name.index(after: dot) != name.endIndex
        else { return nil }
        return name[dot...].dropFirst().lowercased()
    }

    /// Completes a URL that a person or a client sent: restores merged slashes and adds a missing `http` scheme.
    package static func completed(_ text: String) -> String {
        for scheme in ["http:", "https:"] where text.lowercased().hasPrefix(scheme) {
            return "\(text.prefix(scheme.count))//\(text.dropFirst(scheme.count).drop { $0 == "/" })"
        }
        if text.hasPrefix("//") { return "http:\(text)" }
        return isAbsolute(text) ? text : "http://\(text)"
    }

    /// Whether the text starts with a scheme (RFC 3986 §3.1), not just a host with a port (`example.org:80`).
    private static func isAbsolute(_ text: String) -> Bool {
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
