import Crypto
import Foundation
import Testing

@testable import WebArchive

/// Runs a test with a temporary folder.
func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "writing-\(UInt64.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.path)
}

private func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
}

private func text(_ wacz: WACZFile, _ name: String) throws -> String {
    let entry = try #require(wacz.directory.entry(named: name))
    return String(decoding: try wacz.directory.contents(of: entry, limit: 1 << 30), as: UTF8.self)
}

/// Writes a WARC file with one response for each page, and returns its bytes.
private func warc(_ pages: [(url: String, body: String)], in folder: String, compresses: Bool = true) throws -> [UInt8]
{
    let path = "\(folder)/\(UInt64.random(in: 0 ... .max)).warc"
    let writer = try WARCWriter(path: path, compresses: compresses)
    let time = try #require(CaptureTimestamp(digits: "20240102030405"))
    for (url, body) in pages {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        try writer.write(
            .init(type: "response", targetURI: url, date: time, contentType: "application/http; msgtype=response"),
            block: MemoryByteSource(Array((head + body).utf8), name: "block"), payloadStart: UInt64(head.utf8.count))
    }
    try writer.finish()
    defer { try? FileManager.default.removeItem(atPath: path) }
    return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
}

private func packed(
    _ warc: [UInt8], as name: String, in folder: String
) throws -> (wacz: WACZFile, result: WACZWriter.Result) {
    let path = "\(folder)/\(UInt64.random(in: 0 ... .max)).wacz"
    let writer = try WACZWriter(path: path)
    #expect(try writer.addCaptures(MemoryByteSource(warc, name: name), name: name))
    let result = try writer.finish()
    return (try WACZFile.open(FileByteSource(path: path)), result)
}

struct WARCWriterTests {
    /// WARC 1.1 §4 to §5.
    @Test func recordIsWrittenAsTheSpecificationHasIt() throws {
        try withFolder { folder in
            let bytes = try warc([("https://a.example/", "<p>Hi")], in: folder, compresses: false)
            let body = Array("<p>Hi".utf8)
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 5\r\n\r\n"
            let block = Array(head.utf8) + body
            let record = try WARCReader(MemoryByteSource(bytes, name: "a.warc")).record(at: 0)
            #expect(record.version == "1.1")
            #expect(record.type == "response")
            #expect(record.targetURI == "https://a.example/")
            #expect(record.date == "2024-01-02T03:04:05Z")
            #expect(record.contentLength == UInt64(block.count))
            #expect(record.blockDigest == "sha256:" + SHA256.hash(data: block).hexadecimal)
            #expect(record.payloadDigest == "sha256:" + SHA256.hash(data: body).hexadecimal)
            let id = try #require(record.headers["WARC-Record-ID"])
            #expect(
                id.wholeMatch(of: /<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>/)
                    != nil)
            #expect(bytes.suffix(4) == Array("\r\n\r\n".utf8)[...])
            #expect(try warc([("https://a.example/", "<p>Hi")], in: folder, compresses: false) == bytes)
        }
    }

    @Test func eachRecordIsAGzipMember() throws {
        try withFolder { folder in
            let pages = (0..<20).map { ("https://a.example/\($0)", String(repeating: "<p>\($0)", count: 20_000)) }
            let bytes = try warc(pages, in: folder)
            let plain = try warc(pages, in: folder, compresses: false)
            let scanner = try WARCReader(MemoryByteSource(bytes, name: "a.warc.gz")).makeScanner()
            var urls: [String] = []
            while let item = try scanner.next() {
                #expect(item.record.isCompressed)
                urls.append(try #require(item.record.targetURI))
            }
            #expect(urls == pages.map(\.0))
            #expect(scanner.findings.isEmpty)
            #expect(
                try GzipStream(SourceStream(MemoryByteSource(bytes, name: "a")), Allowance(archiveSize: 0)).readAll(
                    limit: 1 << 30) == plain)
        }
    }

    @Test func valueCannotBeginAnotherField() throws {
        try withFolder { folder in
            let bytes = try warc([("https://a.example/\r\nWARC-Type: warcinfo", "x")], in: folder, compresses: false)
            let record = try WARCReader(MemoryByteSource(bytes, name: "a.warc")).record(at: 0)
            #expect(record.headers.all("WARC-Type") == ["response"])
        }
    }
}

struct WACZWriterTests {
    private static let pages = [
        ("https://b.example/", "<title>B</title><h1>Bee</h1><p>A \"quoted\" \\ word"),
        ("https://a.example/x?b=2&a=1", "<title>A &amp; O</title><p>Ünïcode"),
    ]

    @Test(arguments: [true, false])
    func packsRecordsAsTheyAre(_ compresses: Bool) throws {
        try withFolder { folder in
            let bytes = try warc(Self.pages, in: folder, compresses: compresses)
            let name = compresses ? "site.warc.gz" : "site.warc"
            let (wacz, result) = try packed(bytes, as: name, in: folder)
            #expect(result.captureCount == 2 && result.pageCount == 2 && result.recordCount == 2)
            #expect(result.findings.isEmpty)
            let entry = try #require(wacz.warcEntry(named: name))
            #expect(entry.method == .stored)
            #expect(try wacz.directory.contents(of: entry, limit: 1 << 20) == bytes)
            for (url, body) in Self.pages {
                let found = try #require(try wacz.captures(ofURL: url).first)
                let content = try RecordContent(try wacz.record(of: found))
                #expect(try content.openBody().readAll(limit: 1000) == Array(body.utf8))
            }
            let pages = try text(wacz, "pages/pages.jsonl").split(separator: "\n").map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
            }
            #expect(pages[0]["format"] == "json-pages-1.0")
            #expect(pages[1]["url"] == "https://b.example/")
            #expect(pages[1]["title"] == "B")
            #expect(pages[1]["text"] == "Bee\nA \"quoted\" \\ word")
            #expect(pages[2]["title"] == "A & O")
            #expect(pages[2]["text"] == "Ünïcode")
            #expect(pages[2]["ts"] == "2024-01-02T03:04:05Z")
            #expect(try wacz.inspect().findings.isEmpty)
        }
    }

    @Test func descriptionHasTheHashesAndTheDigestIsItsOwn() throws {
        try withFolder { folder in
            let (wacz, result) = try packed(try warc(Self.pages, in: folder), as: "s.warc.gz", in: folder)
            let package = Array(try text(wacz, "datapackage.json").utf8)
            #expect(result.packageHash == "sha256:" + SHA256.hash(data: package).hexadecimal)
            let digest = try text(wacz, "datapackage-digest.json")
            #expect(digest.contains(result.packageHash))
            for resource in try #require(wacz.dataPackage).resources {
                let entry = try #require(wacz.directory.entry(named: resource.path))
                let contents = try wacz.directory.contents(of: entry, limit: 1 << 20)
                #expect(resource.hash?.hex == SHA256.hash(data: contents).hexadecimal)
                #expect(resource.bytes == UInt64(contents.count))
            }
            #expect(wacz.dataPackage?.mainPage?.url == "https://b.example/")
            #expect(wacz.dataPackage?.created == "2024-01-02T03:04:05Z")
        }
    }

    @Test func sameContentsGiveTheSameBytes() throws {
        try withFolder { folder in
            let bytes = try warc(Self.pages, in: folder)
            let files = try (0..<2).map { number in
                let path = "\(folder)/\(number).wacz"
                let writer = try WACZWriter(path: path)
                _ = try writer.addCaptures(MemoryByteSource(bytes, name: "s.warc.gz"), name: "s.warc.gz")
                _ = try writer.finish()
                return try Data(contentsOf: URL(fileURLWithPath: path))
            }
            #expect(files[0] == files[1])
        }
    }

    @Test func nothingAppearsBeforeTheEnd() throws {
        struct Stop: Error {}
        try withFolder { folder in
            let bytes = try warc(
                [("https://a.example/", String(repeating: "x", count: 3 << 20))], in: folder, compresses: false)
            do {
                let writer = try WACZWriter(path: "\(folder)/a.wacz")
                #expect(throws: Stop.self) {
                    try writer.addWARC(MemoryByteSource(bytes, name: "a.warc"), name: "a.warc") { _ in
                        let now = try names(in: folder)
                        #expect(!now.contains("a.wacz"))
                        throw Stop()
                    }
                }
            }
            #expect(try names(in: folder).isEmpty)
        }
    }

    @Test func existingFileIsNotReplaced() throws {
        try withFolder { folder in
            try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(folder)/a.wacz"))
            #expect(code { _ = try WACZWriter(path: "\(folder)/a.wacz") } == .io)
            let writer = try WACZWriter(path: "\(folder)/b.wacz")
            try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(folder)/b.wacz"))
            #expect(code { _ = try writer.finish() } == .io)
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/b.wacz")) == Data("mine".utf8))
        }
    }

    @Test func filesOfTheSameNameAreNumbered() throws {
        try withFolder { folder in
            let path = "\(folder)/a.wacz"
            let writer = try WACZWriter(path: path)
            for page in Self.pages {
                _ = try writer.addCaptures(MemoryByteSource(warc([page], in: folder), name: "s"), name: "s.warc.gz")
            }
            #expect(try writer.finish().captureCount == 2)
            let wacz = try WACZFile.open(FileByteSource(path: path))
            #expect(wacz.warcEntries.map(\.name) == ["archive/s.warc.gz", "archive/s-2.warc.gz"])
            for page in Self.pages { #expect(try wacz.captures(ofURL: page.0).count == 1) }
        }
    }

    /// A crawler's records about pages decide which documents are pages.
    @Test func onlyRecordedPagesAreListed() throws {
        try withFolder { folder in
            let path = "\(folder)/a.warc.gz"
            let writer = try WARCWriter(path: path)
            let time = try #require(CaptureTimestamp(digits: "20240102030405"))
            try writer.write(
                .init(
                    type: "resource", targetURI: "urn:pageinfo:https://a.example/x?b=2&a=1", date: time,
                    contentType: "application/json"),
                block: MemoryByteSource(Array("{\"urls\":{}}".utf8), name: "x"))
            try writer.finish()
            let bytes = try warc(Self.pages, in: folder) + Array(try Data(contentsOf: URL(fileURLWithPath: path)))
            let (wacz, result) = try packed(bytes, as: "s.warc.gz", in: folder)
            #expect(result.pageCount == 1)
            var urls: [String] = []
            _ = try wacz.forEachPage {
                urls.append($0.url)
                return true
            }
            #expect(urls == ["https://a.example/x?b=2&a=1"])
        }
    }
}

struct WARCConversionTests {
    @Test func oneGzipMemberBecomesAMemberForEachRecord() throws {
        try withFolder { folder in
            let pages = (0..<5).map { ("https://a.example/\($0)", "<p>\($0)") }
            let plain = try warc(pages, in: folder, compresses: false)
            let (wacz, result) = try packed(Deflater.gzip(plain), as: "s.warc.gz", in: folder)
            #expect(result.captureCount == 5 && result.findings.isEmpty)
            let entry = try #require(wacz.warcEntry(named: "s.warc.gz"))
            let stored = try wacz.directory.contents(of: entry, limit: 1 << 20)
            #expect(
                try GzipStream(SourceStream(MemoryByteSource(stored, name: "a")), Allowance(archiveSize: 0)).readAll(
                    limit: 1 << 20) == plain)
            let record = try wacz.record(of: try #require(try wacz.captures(ofURL: "https://a.example/3").first))
            #expect(try RecordContent(record).openBody().readAll(limit: 100) == Array("<p>3".utf8))
        }
    }

    /// ARC 1.0: `URL address date type length`, a line end after each record.
    @Test(arguments: ["plain", "members", "one member"])
    func arcBecomesWARC(_ form: String) throws {
        func record(_ header: String, _ block: String) -> [UInt8] {
            Array("\(header) \(block.utf8.count)\n\(block)\n".utf8)
        }
        let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Old</title><p>Page"
        let records = [
            record(
                "filedesc://old.arc 0.0.0.0 19991231235958 text/plain",
                "1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n"),
            record("dns:a.example 10.0.0.1 19991231235958 text/dns", "19991231235958\na.example. 60 IN A 10.0.0.2\n"),
            record("http://a.example/a b 10.0.0.2 19991231235959 text/html", page),
        ]
        let bytes =
            switch form {
            case "plain": records.flatMap { $0 }
            case "members": records.flatMap { Deflater.gzip($0) }
            default: Deflater.gzip(records.flatMap { $0 })
            }
        try withFolder { folder in
            let (wacz, result) = try packed(bytes, as: "old.arc", in: folder)
            #expect(result.findings.isEmpty)
            #expect(result.captureCount == 2 && result.pageCount == 1 && result.recordCount == 3)
            let entry = try #require(try wacz.captures(ofURL: "http://a.example/a%20b").first)
            #expect(entry.timestamp == "19991231235959" && entry.status == 200 && entry.mime == "text/html")
            let found = try wacz.record(of: entry)
            #expect(found.headers["WARC-IP-Address"] == "10.0.0.2")
            #expect(found.date == "1999-12-31T23:59:59Z")
            #expect(try found.openBlock().readAll(limit: 1000) == Array(page.utf8))
            #expect(
                try text(wacz, "pages/pages.jsonl").contains(
                    "\"title\": \"Old\", \"mime\": \"text/html\", \"text\": \"Page\""))
        }
    }

    /// A record may announce more than there is. What follows it is read.
    @Test func recordsAfterAWrongLengthAreKept() throws {
        try withFolder { folder in
            let good = try warc([("https://a.example/1", "<p>1")], in: folder, compresses: false)
            let wrong = Array(
                "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/\r\nContent-Length: 100000000000\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"
                    .utf8)
            let (wacz, result) = try packed(good + wrong + good, as: "s.warc", in: folder)
            #expect(result.captureCount == 2)
            #expect(result.findings.map(\.code) == ["warc-damaged"])
            #expect(try wacz.captures(ofURL: "https://a.example/1").count == 2)
        }
    }

    @Test(arguments: ["", "hello", "PK\u{3}\u{4}", "<!doctype html>WARC/1.0"])
    func otherFilesAreNotRecognized(_ contents: String) throws {
        #expect(try WARCFormat(MemoryByteSource(Array(contents.utf8), name: "x")) == nil)
        #expect(try WARCFormat(MemoryByteSource(Deflater.gzip(Array(contents.utf8)), name: "x")) == nil)
    }
}

struct RecordIndexerTests {
    private static func record(_ type: String, _ block: String, id: String, to other: String? = nil) -> [UInt8] {
        let concurrent = other.map { "WARC-Concurrent-To: <\($0)>\r\n" } ?? ""
        return Array(
            """
            WARC/1.1\r\nWARC-Type: \(type)\r\nWARC-Target-URI: https://a.example/api\r\nWARC-Date: 2024-01-02T03:04:05Z\r
            WARC-Record-ID: <\(id)>\r\n\(concurrent)Content-Type: application/http; msgtype=\(type)\r
            Content-Length: \(block.utf8.count)\r\n\r\n\(block)\r\n\r\n
            """.utf8)
    }

    private static let response = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}"
    private static let post =
        "POST /api HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\na=1&b=2"

    /// The key and the members are those of cdxj-indexer 1.5.0 with `--post-append`.
    @Test(arguments: [
        [record("response", response, id: "r"), record("request", post, id: "q", to: "r")],
        [record("request", post, id: "q", to: "r"), record("response", response, id: "r")],
        [record("request", post, id: "q"), record("response", response, id: "r")],
    ])
    func requestBesideAResponseIsInItsKey(_ records: [[UInt8]]) throws {
        try withFolder { folder in
            let (wacz, _) = try packed(records.flatMap { $0 }, as: "s.warc", in: folder)
            let url = "https://a.example/api?__wb_method=POST&a=1&b=2"
            let entry = try #require(try wacz.captures(ofURL: url).first)
            #expect(entry.urlKey == "example,a)/api?__wb_method=post&a=1&b=2")
            #expect(entry.method == "POST" && entry.requestBody == "a=1&b=2" && entry.url == "https://a.example/api")
        }
    }

    /// The keys of `surt` 0.3.1 for HTTP, which pywb finds; other URLs are their own keys, as in the replay engine.
    @Test(arguments: [
        ("https://www.a.example/Dir/", "example,a)/dir"), ("https://a.example", "example,a)/"),
        ("https://a.example/Dir/?phpsessid=0123456789abcdef0123456789abcdef&b=2&a=%7e", "example,a)/dir?a=~&b=2"),
        ("urn:pageinfo:https://a.example/", "urn:pageinfo:https://a.example/"),
    ])
    func keysAreThoseOfPywb(_ url: String, _ key: String) throws {
        let time = try #require(CaptureTimestamp(digits: "20240102030405"))
        let entry = CDXJEntry(
            url: url, time: time, mime: nil, status: nil, digest: nil, filename: "a",
            offset: 0, length: 1, method: "GET", contentType: nil, body: [])
        #expect(entry.urlKey == key)
    }

    @Test func requestOfAnotherResponseIsNotUsed() throws {
        try withFolder { folder in
            let records = [
                Self.record("response", Self.response, id: "r"),
                Self.record("request", Self.post, id: "q", to: "other"),
            ]
            let (wacz, _) = try packed(records.flatMap { $0 }, as: "s.warc", in: folder)
            let entry = try #require(try wacz.captures(ofURL: "https://a.example/api").first)
            #expect(entry.method == nil)
        }
    }

    @Test func documentLoadedIntoAPageIsNoPage() throws {
        let html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>x"
        let get = { (destination: String) in "GET /api HTTP/1.1\r\nSec-Fetch-Dest: \(destination)\r\n\r\n" }
        for (destination, pages) in [("document", 1), ("iframe", 0), ("empty", 0)] {
            try withFolder { folder in
                let records = [
                    Self.record("response", html, id: "r"), Self.record("request", get(destination), id: "q", to: "r"),
                ]
                let result = try packed(records.flatMap { $0 }, as: "s.warc", in: folder).result
                #expect(result.pageCount == pages)
            }
        }
    }
}
