import Foundation

/// The head of a request in the form of HTTP/1.1.
package enum RequestHead {
    /// - Parameter fields: As the browser sent them. Those of HTTP/2 have pseudo-header fields. RFC 9113 §8.3.
    package static func bytes(method: String, url: String, fields: [String: String]) -> [UInt8] {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        let authority = parts.count > 2 ? String(parts[2]) : ""
        let target = parts.count > 3 ? "/" + parts[3] : "/"
        var lines = ["\(oneLine(method)) \(oneLine(target)) HTTP/1.1"]
        lines.append("Host: \(oneLine(fields[":authority"] ?? fields["Host"] ?? fields["host"] ?? authority))")
        for (name, value) in fields.sorted(by: { $0.key.lowercased() < $1.key.lowercased() }) {
            let known = name.lowercased()
            guard !known.hasPrefix(":"), known != "host" else { continue }
            // What the guard gets isn't what the site gets.
            lines.append("\(known == "proxy-connection" ? "Connection" : oneLine(name)): \(oneLine(value))")
        }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    static func oneLine(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.value < 0x20 && $0 != "\t" ? " " : Character($0) })
    }
}

extension ResponseHead {
    /// - Parameter received: What the browser says about the same response: the head of HTTP/1.1 as it was received.
    init(_ paused: Fetch.Paused, _ received: Network.RespondedExtra?) {
        if let text = received?.headersText, received?.statusCode == paused.responseStatusCode,
            let head = ResponseHead(text: text)
        {
            self = head
            return
        }
        let status = paused.responseStatusCode ?? 200
        let isNew = received != nil && received?.headersText == nil
        // Several values of a field are in one text.
        let fields =
            received.map { received in
                received.headers.sorted { $0.key.lowercased() < $1.key.lowercased() }.flatMap { field in
                    field.value.split(separator: "\n", omittingEmptySubsequences: false).map {
                        (name: field.key, value: RequestHead.oneLine(String($0)))
                    }
                }
            } ?? (paused.responseHeaders ?? []).map { ($0.name, RequestHead.oneLine($0.value)) }
        self.init(
            status: status,
            statusLine:
                "\(isNew ? "HTTP/2" : "HTTP/1.1") \(status) \(RequestHead.oneLine(paused.responseStatusText ?? ""))",
            fields: fields)
    }
}
