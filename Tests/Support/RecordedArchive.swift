/// A generated WACZ with given records.
package struct RecordedArchive: Sendable {
    package struct Record: Sendable {
        package var type = "response"
        package var url: String
        /// The time of the capture, as 14 digits.
        package var timestamp = "20240102030405"
        /// The status line and header fields, without the empty line; empty for a record without an HTTP message.
        package var head = "HTTP/1.1 200 OK\r\nContent-Type: text/html"
        package var body: [UInt8]
        /// Additional fields of the WARC record.
        package var fields: [String] = []
        /// Members of the index entry other than URL and location.
        package var index = "\"mime\":\"text/html\",\"status\":\"200\""
        /// The key in the index; if `nil`, that of a plain URL.
        package var key: String?
        /// The URL in the index; if `nil`, that of the record.
        package var indexedURL: String?

        package init(_ url: String, _ body: String = "", timestamp: String = "20240102030405", status: Int = 200) {
            self.url = url
            self.body = Array(body.utf8)
            self.timestamp = timestamp
            head = "HTTP/1.1 \(status) Reason\r\nContent-Type: text/html"
            index = "\"mime\":\"text/html\",\"status\":\"\(status)\""
        }

        /// A redirect.
        package init(_ url: String, to target: String, timestamp: String = "20240102030405") {
            self.init(url, timestamp: timestamp, status: 302)
            head += "\r\nLocation: \(target)"
        }

        /// The page information of Browsertrix: the URLs that a page loaded, as JSON.
        package init(pageInfo page: String, urls: String, timestamp: String = "20240102030405") {
            self.init("urn:pageinfo:\(page)", "{\"url\":\"\(page)\",\"urls\":{\(urls)}}", timestamp: timestamp)
            type = "resource"
            head = ""
            fields = ["Content-Type: application/json"]
            index = "\"mime\":\"application/json\""
            key = url
        }

        /// Returns a changed copy of the record.
        package func with(_ change: (inout Record) -> Void) -> Record {
            var changed = self
            change(&changed)
            return changed
        }
    }

    package var records: [Record]
    /// Whether each record is a gzip member.
    package var isCompressed: Bool
    /// The SHA-256 of another file that this one needs, in hexadecimal.
    package var requires: String?
    /// Other required files: their names and hashes.
    package var requirements: [(filename: String, hash: String?)] = []
    /// Lines of the page list.
    package var pages: [String] = []

    package init(_ records: [Record], isCompressed: Bool = true, requires: String? = nil) {
        self.records = records
        self.isCompressed = isCompressed
        self.requires = requires
    }

    /// Returns the whole file.
    package func bytes() -> [UInt8] {
        let name = isCompressed ? "data.warc.gz" : "data.warc"
        var warc: [UInt8] = []
        var index: [String] = []
        for record in records {
            let bytes = isCompressed ? GeneratedArchive.gzip(record.bytes()) : record.bytes()
            index.append(
                "\(record.key ?? Self.key(record.url)) \(record.timestamp) {\"url\":\"\(Self.escaped(record.indexedURL ?? record.url))\","
                    + "\(record.index),"
                    + "\"filename\":\"\(name)\",\"offset\":\"\(warc.count)\",\"length\":\"\(bytes.count)\"}\n")
            warc += bytes
        }
        index.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return GeneratedArchive.zip([
            .init("archive/\(name)", warc), .init("indexes/index.cdx", Array(index.joined().utf8)),
            GeneratedArchive.pageList(pages.map { $0 + "\n" }.joined()),
            GeneratedArchive.dataPackage(
                requirements: requirements + (requires.map { [("a.wacz", "sha256:\($0)")] } ?? [])),
        ])
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }

    /// Returns the SURT of a URL with a plain host name and without `www`.
    private static func key(_ url: String) -> String {
        let rest = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).last ?? ""
        let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let host = parts[0].split(separator: ".").reversed().joined(separator: ",")
        return "\(host))/\(parts.count > 1 ? parts[1].lowercased() : "")"
    }
}

extension RecordedArchive.Record {
    /// Returns the record as in a WARC file.
    package func bytes() -> [UInt8] {
        func part(_ from: Int, _ to: Int) -> Substring { timestamp.dropFirst(from).prefix(to - from) }
        let date = "\(part(0, 4))-\(part(4, 6))-\(part(6, 8))T\(part(8, 10)):\(part(10, 12)):\(part(12, 14))Z"
        let block = (head.isEmpty ? [] : Array("\(head)\r\n\r\n".utf8)) + body
        var lines = ["WARC/1.1", "WARC-Type: \(type)", "WARC-Target-URI: \(url)", "WARC-Date: \(date)"]
        lines.append("WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>")
        if !head.isEmpty { lines.append("Content-Type: application/http; msgtype=response") }
        lines += fields + ["Content-Length: \(block.count)"]
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + block + Array("\r\n\r\n".utf8)
    }
}
