extension CDXJEntry {
    /// The URL with the request method and body in its query, as in replay requests and index keys.
    package var requestURL: String {
        guard let method, method != "GET", method != "HEAD", !url.contains("__wb_method=") else { return url }
        let fragment = url.firstIndex(of: "#") ?? url.endIndex
        let separator = url[..<fragment].contains("?") ? "&" : "?"
        let body = requestBody.map { "&\($0)" } ?? ""
        return "\(url[..<fragment])\(separator)__wb_method=\(method)\(body)"
    }

    /// Returns the line for a sorted index: with the original JSON, and a new key unless it's the SURT of an `http`
    /// URL.
    ///
    /// - Parameter line: The original index line; `nil` for an entry made from a record.
    func canonicalLine(from line: [UInt8]?) -> [UInt8] {
        let isSURT = HTTPURLParts(url) == nil || SURT.isSURT(urlKey)
        let key = isSURT ? urlKey : SURT.key(for: requestURL)
        let json = line.flatMap { line in
            let rest = line[CDXJLine.sortKey(of: line[...]).endIndex...]
            return rest.firstIndex(of: UInt8(ascii: "{")).map { Array(rest[$0...]) }
        }
        return Array(SURT.escapingSpaces(in: key).utf8) + [0x20] + Array(timestamp.utf8) + [0x20]
            + (json ?? Array(jsonText.utf8))
    }

    /// The JSON block as py-wacz writes it, with numbers as strings.
    private var jsonText: String {
        let members: [(String, String?)] = [
            ("url", url), ("mime", mime), ("status", status.map { String($0) }), ("digest", digest),
            ("length", length.map { String($0) }), ("offset", String(offset)), ("filename", filename),
            ("recordDigest", recordDigest), ("method", method), ("requestBody", requestBody),
        ]
        let texts = members.compactMap { name, value in value.map { "\"\(name)\": \(JSONText.quoted($0))" } }
        return "{\(texts.joined(separator: ", "))}"
    }
}
