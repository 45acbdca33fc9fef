import Foundation

/// The head of an HTTP/1.1 response, as curl received it. RFC 9112 §4, §5.
package struct ResponseHead: Sendable {
    let status: Int
    /// The status line, without its end.
    let statusLine: String
    let fields: [(name: String, value: String)]

    private static let bytesMax = 1 << 20

    init(status: Int, statusLine: String, fields: [(name: String, value: String)]) {
        (self.status, self.statusLine, self.fields) = (status, statusLine, fields)
    }

    /// Reads a file of `--dump-header`, which may begin with interim responses; `nil` until a head is complete.
    init?(path: String) {
        guard let handle = FileHandle(forReadingAtPath: path), let data = try? handle.read(upToCount: Self.bytesMax)
        else {
            return nil
        }
        self.init(text: String(decoding: data, as: UTF8.self))
    }

    package init?(text: String) {
        let heads = text.replacingOccurrences(of: "\r\n", with: "\n").components(separatedBy: "\n\n").dropLast()
        let final = heads.last { !$0.hasPrefix("HTTP/1.1 1") && !$0.hasPrefix("HTTP/1.0 1") }
        guard let lines = final?.split(separator: "\n"), let first = lines.first else { return nil }
        let words = first.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]) else { return nil }
        self.status = status
        statusLine = String(first)
        fields = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (String(line[..<colon]), value)
        }
    }

    /// The first value of a field, whose name is given in lower case.
    subscript(name: String) -> String? { fields.first { $0.name.lowercased() == name }?.value }

    /// Where a redirect leads; `nil` for other responses.
    var location: String? { [301, 302, 303, 307, 308].contains(status) ? self["location"] : nil }

    /// The media type in lower case, without parameters.
    package var mediaType: String {
        (self["content-type"] ?? "").prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }

    var contentLength: UInt64? { self["content-length"].flatMap { UInt64($0) } }

    /// The file name of `Content-Disposition`, without a path. RFC 6266.
    package var fileName: String? {
        guard let field = self["content-disposition"] else { return nil }
        var name: String?
        for part in field.split(separator: ";").dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard pair.count == 2 else { continue }
            if pair[0].lowercased() == "filename*", let encoded = pair[1].components(separatedBy: "''").last {
                return encoded.removingPercentEncoding ?? name
            }
            if pair[0].lowercased() == "filename" {
                name = pair[1].trimmingCharacters(in: CharacterSet(charactersIn: "\""))
            }
        }
        return name
    }

    /// The head for a WARC record, whose body has no transfer coding. Removed fields keep their values under another name, as
    /// browser-based crawlers write them.
    ///
    /// - Parameters:
    ///   - withCookies: Whether to keep `Set-Cookie`.
    ///   - decodedSize: The size of a body whose content coding is removed, too; `nil` if the body is as it was received.
    package func recordBytes(withCookies: Bool = true, decodedSize: UInt64? = nil) -> [UInt8] {
        let removed = ["transfer-encoding"] + (decodedSize == nil ? [] : ["content-encoding"])
        let lines = fields.compactMap { field -> String? in
            let name = field.name.lowercased()
            if !withCookies, ["set-cookie", "set-cookie2"].contains(name) { return nil }
            if removed.contains(name) { return "x-orig-\(name): \(field.value)\r\n" }
            if name == "content-length", let decodedSize { return "\(field.name): \(decodedSize)\r\n" }
            return "\(field.name): \(field.value)\r\n"
        }
        // Records have the form of HTTP/1.1; `WARC-Protocol` names the version.
        let line = statusLine.hasPrefix("HTTP/2 ") ? "HTTP/1.1" + statusLine.dropFirst("HTTP/2".count) : statusLine
        return Array("\(line)\r\n\(lines.joined())\r\n".utf8)
    }
}
