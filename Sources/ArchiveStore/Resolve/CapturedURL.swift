import WebArchive

/// Operations on captured URLs, which stay as they were recorded.
package enum CapturedURL {
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
        return URLReference.isAbsolute(text) ? text : "http://\(text)"
    }
}
