import Foundation

/// Writes the method and body of a request into its URL, as indexers do to distinguish captures of `POST` and `PUT`.
///
/// Source: pywb, cdxj-indexer and wabac.js. CDXJ 0.1.0 describes only the result. Forms and JSON become arguments;
/// other bodies become base64 in `__wb_post_data`.
public enum IndexedRequest {
    /// Returns the URL under which a capture of the request is indexed: `http://a/?x=1&__wb_method=POST&y=2`.
    ///
    /// - Parameters:
    ///   - url: The requested URL.
    ///   - body: The request body, as sent.
    ///   - method: The request method. `GET` and `HEAD` don't change the URL.
    ///   - contentType: The media type with its parameters, which `multipart` bodies need.
    public static func url(_ url: String, method: String, contentType: String?, body: [UInt8]) -> String {
        guard method != "GET", method != "HEAD" else { return url }
        let whole = body.isEmpty ? "" : arguments(of: body, contentType: contentType ?? "")
        // Indexers use the same limit.
        let query = whole.utf8.count > queryScalarsMax ? String(whole.unicodeScalars.prefix(queryScalarsMax)) : whole
        let separator = url.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return "\(url)\(separator)__wb_method=\(method)\(query.isEmpty ? "" : "&\(query)")"
    }

    private static func arguments(of body: [UInt8], contentType: String) -> String {
        switch HTTPMessageHead.mime(ofType: contentType) ?? "" {
        case "application/x-www-form-urlencoded":
            return unescaped(body) ?? binary(body)
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

    /// The maximum number of Unicode scalars of a body in a URL, as in pywb and cdxj-indexer.
    private static let queryScalarsMax = 4096

    /// The number of bytes of a body from which these are made: each is one of four bytes of a scalar, with an escape.
    private static let bytesUsed = 4 * 3 * queryScalarsMax

    private static func binary(_ body: [UInt8]) -> String {
        "__wb_post_data=\(Data(body.prefix(bytesUsed)).base64EncodedString())"
    }

    /// Decodes the escapes and pluses of a form like Python's `unquote_plus`, which replaces bytes that aren't UTF-8.
    ///
    /// - Returns: `nil` if the form itself isn't UTF-8.
    private static func unescaped(_ form: [UInt8]) -> String? {
        guard form[...].utf8Text != nil else { return nil }
        let spaced = form.prefix(bytesUsed).map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(decoding: PercentEncoding.decoded(spaced), as: UTF8.self)
    }

    /// Returns each JSON value as an argument named after its innermost member. A second one is `name.2_`.
    private static func json(_ body: [UInt8]) -> String? {
        var scanner = JSONScanner(body, depthMax: Limits.standard.jsonDepthMax)
        var pairs: [(String, String)] = []
        var counts: [String: Int] = [:]
        var length = 0
        do throws(JSONProblem) {
            try scanner.eachLeaf(named: "") { name, text in
                guard !name.isEmpty, length < queryScalarsMax else { return }
                length += name.utf8.count + text.utf8.count
                let name = String(name.unicodeScalars.prefix(queryScalarsMax))
                let count = counts[name, default: 0] + 1
                counts[name] = count
                let start = String(text.unicodeScalars.prefix(queryScalarsMax))
                pairs.append((count == 1 ? name : "\(name).\(count)_", start))
            }
            try scanner.expectEnd()
        } catch {
            return nil
        }
        return encoded(pairs)
    }

    /// Returns the names and values of a multipart form. RFC 7578 §4.
    private static func multipart(_ body: [UInt8], contentType: String) -> [(String, String)]? {
        guard let mark = contentType.range(of: "boundary=", options: .caseInsensitive) else { return nil }
        let boundary = contentType[mark.upperBound...].prefix { $0 != ";" }.filter { $0 != "\"" && $0 != " " }
        // RFC 2046 §5.1.1.
        guard (1...70).contains(boundary.utf8.count), body[...].utf8Text != nil else { return nil }
        let delimiter = Array("--\(boundary)".utf8)
        var pairs: [(String, String)] = []
        var length = 0
        var rest: ArraySlice<UInt8>? = body[...]
        while let text = rest, length < queryScalarsMax {
            let found = text.firstRange(ofBytes: delimiter)
            rest = found.map { text[$0.upperBound...] }
            guard let (name, value) = pair(in: text[..<(found?.lowerBound ?? text.endIndex)]) else { continue }
            length += name.count + value.count
            pairs.append(
                (
                    String(decoding: name.prefix(bytesUsed), as: UTF8.self),
                    String(decoding: value.prefix(bytesUsed), as: UTF8.self)
                ))
        }
        return pairs
    }

    /// Returns the name and value of a part of a multipart form; `nil` if it has none.
    private static func pair(in part: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
        guard let end = part.firstRange(ofBytes: Array("\r\n\r\n".utf8)),
            let start = part[..<end.lowerBound].firstRange(ofBytes: Array("name=\"".utf8))
        else { return nil }
        let name = part[start.upperBound..<end.lowerBound].prefix { $0 != UInt8(ascii: "\"") }
        let value = part[end.upperBound...]
        return (name, value.suffix(2).elementsEqual("\r\n".utf8) ? value.dropLast(2) : value)
    }

    /// Returns the pairs as `application/x-www-form-urlencoded`, as Python's `urlencode` and `URLSearchParams` do.
    private static func encoded(_ pairs: [(String, String)]) -> String {
        func escape(_ text: String) -> String {
            let bytes = PercentEncoding.encoded(text.utf8) { byte in
                byte.isASCIILetter || byte.isASCIIDigit || "-._ ".utf8.contains(byte)
            }
            return String(decoding: bytes.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }, as: UTF8.self)
        }
        return pairs.map { "\(escape($0.0))=\(escape($0.1))" }.joined(separator: "&")
    }
}
