/// Changes the text of a configuration so that devices in the network can connect. Comments and other keys stay.
package enum OpenedConfiguration {
    /// Returns the text with `server.host: 0.0.0.0` and `server.ssl.enabled: true`; `nil` if it is written in a way that only a
    /// person can change.
    ///
    /// - Parameter text: Valid.
    package static func text(from text: String) -> String? {
        var lines = text.linesWithEmptyOnes.map(String.init)
        while lines.last?.isEmpty == true { lines.removeLast() }
        guard let start = lines.firstIndex(where: { isKey("server", in: $0[...]) }) else {
            guard !lines.contains(where: { $0.hasPrefix("{") || $0.hasPrefix("---") || $0.hasPrefix("\"server\"") })
            else {
                return nil
            }
            return (lines + block).joined(separator: "\n") + "\n"
        }
        // `server: {…}` on one line.
        guard hasNoValue(lines[start]) else { return nil }
        let end =
            lines[(start + 1)...].firstIndex { !$0.isEmpty && !$0.hasPrefix(" ") && !$0.hasPrefix("#") } ?? lines.count
        var part = Array(lines[(start + 1)..<end])
        guard let first = part.first(where: { isEntry($0) }) else {
            lines.replaceSubrange(start..<end, with: block)
            return lines.joined(separator: "\n") + "\n"
        }
        let indent = first.prefix { $0 == " " }
        part.removeAll { isKey("host", in: $0.dropFirst(indent.count)) && $0.hasPrefix(indent) }
        guard let encrypted = encrypting(part, indent) else { return nil }
        lines.replaceSubrange((start + 1)..<end, with: ["\(indent)host: 0.0.0.0"] + encrypted)
        return lines.joined(separator: "\n") + "\n"
    }

    private static let block = ["server:", "  host: 0.0.0.0", "  ssl:", "    enabled: true"]

    /// Sets `ssl.enabled` in the lines of `server`.
    private static func encrypting(_ part: [String], _ indent: Substring) -> [String]? {
        var part = part
        let isSSL = { (line: String) in line.hasPrefix(indent) && isKey("ssl", in: line.dropFirst(indent.count)) }
        guard let start = part.firstIndex(where: isSSL) else {
            return ["\(indent)ssl:", "\(indent)  enabled: true"] + part
        }
        guard hasNoValue(part[start]) else { return nil }
        let rest = part[(start + 1)...]
        let end = rest.firstIndex { isEntry($0) && $0.prefix { $0 == " " }.count <= indent.count } ?? part.count
        let inner = part[(start + 1)..<end].first(where: isEntry)?.prefix { $0 == " " } ?? indent + "  "
        part.replaceSubrange(
            (start + 1)..<end,
            with: ["\(inner)enabled: true"]
                + part[(start + 1)..<end].filter { !isKey("enabled", in: $0.drop { $0 == " " }) })
        return part
    }

    private static func isKey(_ key: String, in line: Substring) -> Bool {
        line.hasPrefix("\(key):") || line.hasPrefix("\(key) :")
    }

    /// Whether a line ends after its key, but for a comment.
    private static func hasNoValue(_ line: String) -> Bool {
        let value = line.drop { $0 != ":" }.dropFirst().drop { $0 == " " }
        return value.isEmpty || value.hasPrefix("#")
    }

    private static func isEntry(_ line: String) -> Bool {
        let content = line.drop { $0 == " " }
        return !content.isEmpty && !content.hasPrefix("#")
    }
}

extension String {
    /// The lines of a text file, which end with LF or CRLF. A character of Swift can be both.
    var linesWithEmptyOnes: [Substring] { split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" } }
}
