extension CDXJEntry {
    /// The URL with method and body in its query, as replay asks for requests other than `GET`, and as keys have them.
    package var requestURL: String {
        guard let method, method != "GET", method != "HEAD", !url.contains("__wb_method=") else { return url }
        let fragment = url.firstIndex(of: "#") ?? url.endIndex
        let separator = url[..<fragment].contains("?") ? "&" : "?"
        let body = requestBody.map { "&\($0)" } ?? ""
        return "\(url[..<fragment])\(separator)__wb_method=\(method)\(body)"
    }

    /// The line to keep: the JSON as it was written, the key made anew only when it is no SURT of an `http` URL.
    ///
    /// - Parameter line: The line of the index; `nil` for an entry that was made from a record.
    func canonicalLine(from line: [UInt8]?) -> [UInt8] {
        let isSURT = HTTPURLParts(url) == nil || SURT.isSURT(urlKey)
        let key = isSURT ? urlKey : SURT.key(for: requestURL)
        // A space would end the key, and a line end the line.
        let safeKey = key.utf8.flatMap {
            $0 > 0x20 ? [$0] : Array("%\($0 < 16 ? "0" : "")\(String($0, radix: 16))".utf8)
        }
        let json = line.flatMap { line in
            let rest = line[CDXJLine.sortKey(of: line[...]).endIndex...]
            return rest.firstIndex(of: UInt8(ascii: "{")).map { Array(rest[$0...]) }
        }
        return safeKey + [0x20] + Array(timestamp.utf8) + [0x20] + (json ?? Array(jsonText.utf8))
    }

    /// The JSON block that py-wacz would write, numbers as strings.
    private var jsonText: String {
        let members: [(String, String?)] = [
            ("url", url), ("mime", mime), ("status", status.map { String($0) }), ("digest", digest),
            ("length", length.map { String($0) }), ("offset", String(offset)), ("filename", filename),
            ("recordDigest", recordDigest), ("method", method), ("requestBody", requestBody),
        ]
        let texts = members.compactMap { name, value in value.map { "\"\(name)\": \(Self.quoted($0))" } }
        return "{\(texts.joined(separator: ", "))}"
    }

    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
