import CZlib

/// A WACZ made for a test: all entries stored, one WARC with one large record and one small record for each page.
package struct GeneratedArchive: Sendable {
    package struct Page: Sendable {
        package var url: String
        package var title: String?

        package init(url: String, title: String? = nil) {
            self.url = url
            self.title = title
        }
    }

    package var title: String?
    package var pages: [Page]
    /// Bytes of the payload that makes the archive large.
    package var payloadSize: Int
    /// Makes archives of equal shape differ.
    package var seed: UInt64

    package init(
        title: String? = "Generated", pages: [Page] = [Page(url: "http://example.org/", title: "Main")],
        payloadSize: Int = 0, seed: UInt64 = 1
    ) {
        self.title = title
        self.pages = pages
        self.payloadSize = payloadSize
        self.seed = seed
    }

    /// The whole file.
    package func bytes() -> [UInt8] {
        var warc: [UInt8] = []
        var index: [String] = []
        for (number, page) in pages.enumerated() {
            let record = Self.record(url: page.url, payload: Array("<title>\(page.title ?? "")</title>\(seed)".utf8))
            index.append(Self.indexLine(url: page.url, key: "org,example)/\(number)", warc.count, record.count))
            warc += record
        }
        if payloadSize > 0 {
            let record = Self.record(url: "http://example.org/large", payload: patternBytes(payloadSize, seed: seed))
            index.append(
                Self.indexLine(url: "http://example.org/large", key: "org,example)/large", warc.count, record.count))
            warc += record
        }
        let titleLine = title.map { "\"title\":\"\($0)\"," } ?? ""
        let list = pages.map { page in
            "{\"url\":\"\(page.url)\",\"ts\":\"2024-01-02T03:04:05Z\""
                + (page.title.map { ",\"title\":\"\($0)\"" } ?? "") + "}\n"
        }
        return Self.zip([
            ("archive/data.warc", warc), ("indexes/index.cdx", Array(index.sorted().joined().utf8)),
            (
                "pages/pages.jsonl",
                Array(("{\"format\":\"json-pages-1.0\",\"id\":\"pages\"}\n" + list.joined()).utf8)
            ),
            (
                "datapackage.json",
                Array("{\"profile\":\"data-package\",\(titleLine)\"wacz_version\":\"1.1.1\",\"resources\":[]}".utf8)
            ),
        ])
    }

    private static func record(url: String, payload: [UInt8]) -> [UInt8] {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: \(payload.count)\r\n\r\n"
        let block = Array(head.utf8) + payload
        let fields =
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: \(url)\r\nWARC-Date: 2024-01-02T03:04:05Z\r\n"
            + "WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>\r\n"
            + "Content-Type: application/http; msgtype=response\r\nContent-Length: \(block.count)\r\n\r\n"
        return Array(fields.utf8) + block + Array("\r\n\r\n".utf8)
    }

    private static func indexLine(url: String, key: String, _ offset: Int, _ length: Int) -> String {
        "\(key) 20240102030405 {\"url\":\"\(url)\",\"mime\":\"text/html\",\"status\":200,"
            + "\"filename\":\"data.warc\",\"offset\":\(offset),\"length\":\(length)}\n"
    }

    /// A ZIP of stored entries. APPNOTE.TXT 6.3.10, §4.3.
    private static func zip(_ entries: [(name: String, content: [UInt8])]) -> [UInt8] {
        var file: [UInt8] = []
        var directory: [UInt8] = []
        for (name, content) in entries {
            let offset = UInt32(file.count)
            let checksum = UInt32(
                truncatingIfNeeded: content.withUnsafeBufferPointer { crc32(0, $0.baseAddress, uInt($0.count)) })
            let common =
                little(UInt16(10)) + little(UInt16(0)) + little(UInt16(0)) + little(UInt32(0x0021_0000))
                + little(checksum) + little(UInt32(content.count)) + little(UInt32(content.count))
                + little(UInt16(name.utf8.count)) + little(UInt16(0))
            file += little(UInt32(0x0403_4B50)) + common + Array(name.utf8) + content
            directory +=
                little(UInt32(0x0201_4B50)) + little(UInt16(0x031E)) + common + little(UInt16(0)) + little(UInt16(0))
                + little(UInt16(0)) + little(UInt32(0o100644 << 16)) + little(offset) + Array(name.utf8)
        }
        let start = UInt32(file.count)
        let count = UInt16(entries.count)
        return file + directory + little(UInt32(0x0605_4B50)) + little(UInt16(0)) + little(UInt16(0)) + little(count)
            + little(count) + little(UInt32(directory.count)) + little(start) + little(UInt16(0))
    }

    private static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
