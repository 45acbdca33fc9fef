import WebArchive

/// Writes WARC records and the parts of a WACZ around them.
struct ArchiveBuilder {
    struct Record {
        var type = "response"
        var url = "http://example.org/"
        var date = "2024-01-02T03:04:05Z"
        var block = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello"
        var version = "WARC/1.1"
        var lineEnd = "\r\n"
        var extra: [String] = []
        var declaredLength: Int?

        func bytes() -> [UInt8] {
            var lines = [version, "WARC-Type: \(type)", "WARC-Target-URI: \(url)", "WARC-Date: \(date)"]
            if type == "response" { lines.append("Content-Type: application/http; msgtype=response") }
            lines += extra + ["Content-Length: \(declaredLength ?? block.utf8.count)"]
            return Array((lines.joined(separator: lineEnd) + lineEnd + lineEnd + block + "\r\n\r\n").utf8)
        }
    }

    /// Returns consecutive records, each a gzip member if requested, and their byte ranges.
    static func warc(_ records: [Record], gzip: Bool = true) -> (bytes: [UInt8], ranges: [Range<Int>]) {
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        for record in records {
            let one = gzip ? Deflater.gzip(record.bytes()) : record.bytes()
            ranges.append(bytes.count..<bytes.count + one.count)
            bytes += one
        }
        return (bytes, ranges)
    }

    static func cdxjLine(_ url: String, key: String, _ range: Range<Int>, filename: String = "data.warc.gz") -> String {
        "\(key) 20240102030405 {\"url\":\"\(url)\",\"mime\":\"text/html\",\"status\":200,"
            + "\"filename\":\"\(filename)\",\"offset\":\(range.lowerBound),\"length\":\(range.count)}\n"
    }

    static let pages =
        "{\"format\":\"json-pages-1.0\",\"id\":\"pages\"}\n{\"url\":\"http://example.org/\",\"ts\":\"2024-01-02T03:04:05Z\"}\n"
    static let dataPackage = "{\"profile\":\"data-package\",\"wacz_version\":\"1.1.1\",\"resources\":[]}"

    /// The entries of a small, valid WACZ with two captures.
    static func entries() -> [ZIPBuilder.Entry] {
        var second = Record()
        second.url = "http://example.org/two"
        let (warc, ranges) = warc([Record(), second])
        let index =
            cdxjLine("http://example.org/", key: "org,example)/", ranges[0])
            + cdxjLine("http://example.org/two", key: "org,example)/two", ranges[1])
        return [
            .init("archive/data.warc.gz", warc), .init("indexes/index.cdx", index),
            .init("pages/pages.jsonl", pages), .init("datapackage.json", dataPackage),
        ]
    }

    static func wacz(_ change: (inout [ZIPBuilder.Entry]) -> Void = { _ in }) -> [UInt8] {
        var entries = entries()
        change(&entries)
        return ZIPBuilder(entries).bytes()
    }

    static func open(_ bytes: [UInt8], limits: Limits = .standard) throws(WebArchiveError) -> WACZFile {
        try WACZFile.open(MemoryByteSource(bytes, name: "crawl.wacz"), limits: limits)
    }
}

/// Returns the code of the `WebArchiveError` that a call throws, or `nil` if it throws nothing.
func code(of body: () throws -> Void) -> WebArchiveError.Code? {
    do {
        try body()
        return nil
    } catch let error as WebArchiveError {
        return error.code
    } catch {
        return nil
    }
}

/// A random number generator with a fixed seed, so that failures are reproducible.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
