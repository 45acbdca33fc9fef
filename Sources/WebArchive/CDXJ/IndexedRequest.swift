import Foundation

/// A request with a body as indexers write it into a URL, so that captures of `POST` and `PUT` can be told apart.
///
/// Source: what pywb, cdxj-indexer and wabac.js do; CDXJ 0.1.0 names only the result. Forms and JSON become arguments, anything
/// else base 64 in `__wb_post_data`.
public enum IndexedRequest {
    /// The URL under which a capture of the request is indexed: `http://a/?x=1&__wb_method=POST&y=2`.
    ///
    /// - Parameters:
    ///   - url: As it was asked for.
    ///   - body: Of the request, as it was sent.
    ///   - method: `GET` and `HEAD` leave the URL as it is.
    ///   - contentType: With its parameters, as a `multipart` body needs them.
    public static func url(_ url: String, method: String, contentType: String?, body: [UInt8]) -> String {
        guard method != "GET", method != "HEAD" else { return url }
        let whole = body.isEmpty ? "" : arguments(of: body, contentType: contentType ?? "")
        // Where indexers cut it, too.
        let query = whole.utf8.count > queryCharactersMax ? String(whole.prefix(queryCharactersMax)) : whole
        let separator = url.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return "\(url)\(separator)__wb_method=\(method)\(query.isEmpty ? "" : "&\(query)")"
    }

    private static func arguments(of body: [UInt8], contentType: String) -> String {
        switch HTTPMessageHead.mime(ofType: contentType) ?? "" {
        case "application/x-www-form-urlencoded":
            return body[...].utf8Text.map(unescaped) ?? binary(body)
        case "application/json":
            return json(body) ?? ""
        case "text/plain":
            return json(body) ?? binary(body)
        case let type where type.hasPrefix("multipart/"):
            return multipart(body, contentType: contentType).map(encoded) ?? binary(body)
        default:
            return binary(body)
        }
    }

    /// Characters of a body in a URL, at most, as in pywb and cdxj-indexer.
    private static let queryCharactersMax = 4096

    private static func binary(_ body: [UInt8]) -> String {
        "__wb_post_data=\(Data(body).base64EncodedString())"
    }

    /// A form with its escapes and pluses undone, as indexers leave it; where that is no text it stays as it is.
    private static func unescaped(_ form: String) -> String {
        let spaced = form.replacing("+", with: " ")
        return spaced.removingPercentEncoding ?? spaced
    }

    /// Each value under the name of its innermost member; the second of a name is `name.2_`.
    private static func json(_ body: [UInt8]) -> String? {
        var scanner = JSONScanner(body, depthMax: Limits.standard.jsonDepthMax)
        var pairs: [(String, String)] = []
        var counts: [String: Int] = [:]
        var length = 0
        do throws(JSONProblem) {
            try scanner.eachLeaf(named: "") { name, text in
                guard !name.isEmpty, length < queryCharactersMax else { return }
                length += name.utf8.count + text.utf8.count
                let count = counts[name, default: 0] + 1
                counts[name] = count
                pairs.append((count == 1 ? name : "\(name).\(count)_", text))
            }
            try scanner.expectEnd()
        } catch {
            return nil
        }
        return encoded(pairs)
    }

    /// The parts of a form. RFC 7578 §4; the names are in `Content-Disposition`.
    private static func multipart(_ body: [UInt8], contentType: String) -> [(String, String)]? {
        guard let mark = contentType.range(of: "boundary=", options: .caseInsensitive) else { return nil }
        let boundary = contentType[mark.upperBound...].prefix { $0 != ";" }.filter { $0 != "\"" && $0 != " " }
        guard !boundary.isEmpty, let text = body[...].utf8Text else { return nil }
        return text.split(separator: "--\(boundary)").compactMap { part in
            guard let end = part.range(of: "\r\n\r\n"),
                let start = part.range(of: "name=\"", range: part.startIndex..<end.lowerBound)
            else { return nil }
            let name = part[start.upperBound..<end.lowerBound].prefix { $0 != "\"" }
            let value = part[end.upperBound...]
            return (String(name), String(value.hasSuffix("\r\n") ? value.dropLast() : value))
        }
    }

    /// As `application/x-www-form-urlencoded`, a space as a plus. What Python's `urlencode` and a browser's `URLSearchParams` agree on.
    private static func encoded(_ pairs: [(String, String)]) -> String {
        func escape(_ text: String) -> String {
            let bytes = PercentEncoding.encoded(text.utf8) { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39,
                    UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), 0x20:
                    true
                default: false
                }
            }
            return String(decoding: bytes.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }, as: UTF8.self)
        }
        return pairs.map { "\(escape($0.0))=\(escape($0.1))" }.joined(separator: "&")
    }
}
