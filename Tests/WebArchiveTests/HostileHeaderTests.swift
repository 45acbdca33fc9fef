import Foundation
import Testing

@testable import WebArchive

private func lines(_ count: Int) -> String { String(repeating: "a: b\r\n", count: count) }

private func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "headers-\(UInt64.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.path)
}

/// Headers, URLs and documents of records that are far larger than those of real archives.
struct HostileHeaderTests {
    private typealias Record = ArchiveBuilder.Record

    private static let long = "http://example.org/" + String(repeating: "a", count: Limits.standard.urlBytesMax)

    private func head(_ text: String) throws(WebArchiveError) -> HTTPMessageHead {
        let stream = SourceStream(MemoryByteSource(Array(text.utf8), name: "x"))
        return try HTTPMessageHead.read(from: BufferedInput(stream), limits: .standard)
    }

    /// Packs WARC records, and opens the result.
    private func pack(
        _ records: [Record], gzip: Bool = true, limits: Limits = .standard
    ) throws -> (wacz: WACZFile, findings: [Finding]) {
        try withTemporaryFolder { folder in
            let writer = try WACZWriter(path: "\(folder)/a.wacz", limits: limits)
            let warc = ArchiveBuilder.warc(records, gzip: gzip).bytes
            #expect(try writer.addCaptures(MemoryByteSource(warc, name: "a.warc.gz"), name: "a.warc.gz"))
            let findings = try writer.finish().findings
            return (try WACZFile.open(FileByteSource(path: "\(folder)/a.wacz")), findings)
        }
    }

    private func urls(_ wacz: WACZFile) throws -> [String] {
        var urls: [String] = []
        try wacz.forEachIndexEntry { entry, _ in
            urls.append(entry.url)
            return true
        }
        return urls
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\n\(lines(1999))\r\n", nil), ("HTTP/1.1 200 OK\r\n\(lines(2000))\r\n", .tooLarge),
            ("HTTP/1.1 200 OK\r\n" + String(repeating: " x\r\n", count: 2000) + "\r\n", .tooLarge),
            ("HTTP/1.1 200 OK\r\nA: \(String(repeating: "x", count: 255 << 10))\r\n\r\n", nil),
            ("HTTP/1.1 200 OK\r\nA: \(String(repeating: "x", count: 256 << 10))\r\n\r\n", .tooLarge),
            ("HTTP/1.1 200 \(String(repeating: "x", count: 33 << 10))\r\n\r\n", .badRecord),
        ] as [(String, WebArchiveError.Code?)])
    func headsHaveALimitOfLinesAndBytes(_ text: String, _ expected: WebArchiveError.Code?) {
        #expect(code { _ = try head(text) } == expected)
    }

    @Test func foldedLinesBecomeOneField() throws {
        let folds = String(repeating: "\r\n  b ", count: 1998)
        let field = try head("HTTP/1.1 200 OK\r\nA: a\(folds)\r\n\r\n").fields["a"]
        #expect(field == "a" + String(repeating: " b", count: 1998))
    }

    @Test func recordHeadersHaveALimitOfLines() {
        let bytes = ArchiveBuilder.warc([Record(extra: Array(repeating: "a: b", count: 2000))]).bytes
        let reader = WARCReader(MemoryByteSource(bytes, name: "a.warc.gz"))
        #expect(code { _ = try reader.record(at: 0) } == .tooLarge)
    }

    @Test func recordWithALongHeadIsListedWithAFinding() throws {
        let block = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\(lines(2000))\r\n<title>A</title>"
        let (wacz, findings) = try pack([Record(url: "http://example.org/a", block: block), Record()])
        #expect(findings.map(\.code) == ["http-head-too-long"])
        #expect(try urls(wacz) == ["http://example.org/", "http://example.org/a"])
    }

    @Test func captureWithALongURLIsLeftOut() throws {
        let (wacz, findings) = try pack([Record(url: Self.long), Record()])
        #expect(findings.map(\.code) == ["url-too-long"])
        #expect(try urls(wacz) == ["http://example.org/"])
    }

    @Test func longURLsOfIndexAndPagesAreLeftOut() throws {
        let bytes = ArchiveBuilder.wacz {
            $0[1] = .init("indexes/index.cdx", ArchiveBuilder.cdxjLine(Self.long, key: "org,example)/a", 0..<9))
            $0[2] = .init("pages/pages.jsonl", "{\"url\":\"\(Self.long)\"}\n{\"url\":\"http://example.org/\"}\n")
        }
        let inspection = try ArchiveBuilder.open(bytes).inspect()
        #expect(inspection.findings.filter { $0.code == "url-too-long" }.count == 2)
        #expect(inspection.pageCount == 1)
    }

    @Test func longMainPageIsNoMainPage() throws {
        let json = "{\"mainPageUrl\":\"\(Self.long)\",\"title\":\"a\"}"
        let package = try DataPackage.parse(Array(json.utf8), file: "x", limits: .standard)
        #expect(package.mainPage == nil && package.title == "a")
    }

    @Test func longMediaTypesCountAsMissing() throws {
        let type = "text/" + String(repeating: "a", count: 300)
        let block = "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\nhello"
        let (wacz, findings) = try pack([Record(block: block)])
        #expect(findings.map(\.code) == ["mime-too-long"])
        try wacz.forEachIndexEntry { entry, _ in
            #expect(entry.mime == nil && entry.status == 200)
            return true
        }
        let line = "a 20240101000000 {\"url\":\"http://a/\",\"mime\":\"\(type)\",\"filename\":\"a\",\"offset\":0}"
        #expect(try CDXJEntry(line: Array(line.utf8), depthMax: 4).mime == nil)
    }

    @Test func headersThatExpandTooMuchEndTheScan() throws {
        var limits = Limits.standard
        (limits.inflatedBytesAlwaysAllowed, limits.inflationRatioMax) = (0, 2)
        let records = (0..<20).map {
            Record(url: "http://example.org/\($0)", extra: Array(repeating: "a: b", count: 1000))
        }
        let source = MemoryByteSource(ArchiveBuilder.warc(records).bytes, name: "a.warc.gz")
        let scanner = try WARCReader(source, limits: limits).makeScanner()
        var count = 0
        while try scanner.next() != nil { count += 1 }
        #expect((1..<20).contains(count))
        #expect(scanner.findings.map(\.code) == ["warc-damaged"])
    }

    @Test func documentsThatExpandTooMuchHaveNoText() throws {
        var limits = Limits.standard
        limits.inflationRatioMax = 0
        let document = "<title>A</title><p>" + String(repeating: "word ", count: 15_000)
        // A sixteenth of each is for decompressing the record.
        limits.parsedBytesAlwaysAllowed = UInt64(2 * document.utf8.count)
        let records = (0..<4).map {
            Record(
                url: "http://example.org/\($0)",
                block: "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + document)
        }
        let (wacz, findings) = try pack(records, limits: limits)
        #expect(findings.map(\.code) == ["page-text-left-out"])
        let reader = wacz.makePageReader()
        var titles: [String?] = []
        while let page = try reader.next() { titles.append(page.title) }
        #expect(titles == ["A", "A", nil, nil])
    }

    @Test func pagesThatWaitCountAllTheyHold() throws {
        let head = try head(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; a=\(String(repeating: "b", count: 900))\r\n\r\n")
        let time = try #require(CaptureTimestamp(digits: "2024"))
        let warc = WARCReader(MemoryByteSource(Record().bytes(), name: "a.warc"))
        let document = StoredDocument(
            head, of: try warc.record(at: 0), payload: [UInt8](repeating: 0, count: 50_000))
        let page = PageTexts.Candidate(
            url: Self.long, time: time, mime: "text/html", offset: 0, length: 1, document: document)
        #expect(page.size > Self.long.utf8.count + 900 + 50_000)
    }

    @Test func oneReadReturnsManyTinyChunks() throws {
        let body = Array((String(repeating: "1\r\na\r\n", count: 5000) + "0\r\n\r\n").utf8)
        let stream = SourceStream(MemoryByteSource(body, name: "x"))
        let decoder = ChunkedDecoder(BufferedInput(stream), bodyLength: UInt64(body.count))
        var buffer = [UInt8](repeating: 0, count: 1000)
        let count = try buffer.withUnsafeMutableBytes { bytes throws(WebArchiveError) in try decoder.read(into: bytes) }
        #expect(count == 1000)
        #expect(try decoder.readAll(limit: 10_000).count == 4000)
        #expect(!decoder.isCutShort)
    }

    /// The key has the first 4,096 characters, as pywb and cdxj-indexer make it.
    @Test(arguments: [
        ("multipart/form-data; boundary=b", "--b\r\nname=\"x\"\r\n\r\n" + String(repeating: "y", count: 9000)),
        ("application/json", "{\"x\":\"" + String(repeating: "y", count: 9000) + "\"}"),
        ("application/x-www-form-urlencoded", "x=" + String(repeating: "%79", count: 30_000)),
    ])
    func keysHaveTheStartOfALongBody(_ type: String, _ body: String) {
        let url = IndexedRequest.url("http://a/", method: "POST", contentType: type, body: Array(body.utf8))
        #expect(url == "http://a/?__wb_method=POST&x=" + String(repeating: "y", count: 4094))
    }

    @Test func partsWithoutNamesTakeNoMemory() {
        let body = Array(String(repeating: "--b", count: 100_000).utf8)
        let url = IndexedRequest.url("http://a/", method: "POST", contentType: "multipart/x; boundary=b", body: body)
        #expect(url == "http://a/?__wb_method=POST")
    }
}
