import Testing

@testable import WebArchive

private typealias Record = ArchiveBuilder.Record

private func reader(_ bytes: [UInt8]) -> WARCReader {
    WARCReader(MemoryByteSource(bytes, name: "crawl.wacz/archive/data.warc.gz"))
}

private func block(_ record: WARCRecord) throws -> String {
    String(decoding: try record.openBlock().readAll(limit: 1_000_000), as: UTF8.self)
}

struct WARCReaderTests {
    @Test(arguments: [true, false])
    func readsRecordAtItsOffset(_ gzip: Bool) throws {
        var second = Record()
        second.url = "http://example.org/two"
        second.block = "HTTP/1.1 404\r\n\r\nnone"
        let (bytes, ranges) = ArchiveBuilder.warc([Record(), second], gzip: gzip)
        let record = try reader(bytes).record(at: UInt64(ranges[1].lowerBound), length: UInt64(ranges[1].count))
        #expect(record.targetURI == "http://example.org/two")
        #expect(record.isCompressed == gzip)
        #expect(try block(record) == second.block)
        #expect(try block(record) == second.block, "a block can be opened again")
        let message = try record.openHTTPMessage()
        #expect(message.head.startLine == .response(status: 404, reason: ""))
        #expect(try message.readAll(limit: 100) == Array("none".utf8))
    }

    @Test(arguments: ["WARC/0.17", "WARC/0.18", "WARC/1.0", "WARC/1.1"])
    func readsEveryVersion(_ version: String) throws {
        let record = try reader(Record(version: version).bytes()).record(at: 0)
        #expect(record.version == version.dropFirst(5))
    }

    @Test func readsBareLineFeedsAngleBracketsFoldsAndUTF8() throws {
        var made = Record(url: "<http://example.org/ü>", lineEnd: "\n")
        made.extra = ["WARC-Note: one", "\ttwo", "warc-payload-digest: sha1:KS2J7T2KOPFEMXDBFEIOYH33C6KYZQ5C"]
        let record = try reader(made.bytes()).record(at: 0)
        #expect(record.targetURI == "http://example.org/ü")
        #expect(record.headers["warc-note"] == "one two")
        #expect(record.payloadDigest == "sha1:KS2J7T2KOPFEMXDBFEIOYH33C6KYZQ5C")
        #expect(try block(record) == made.block)
    }

    @Test(
        arguments: [
            (0, 0), (0, 100_000), (100_000, 10), (.max, 1), (1, .max), (UInt64(Int64.max), 2),
        ] as [(UInt64, UInt64)])
    func offsetOutsideTheFileIsRefused(_ offset: UInt64, _ length: UInt64) {
        #expect(code { _ = try reader(Record().bytes()).record(at: offset, length: length) } == .badIndex)
    }

    @Test func offsetInsideARecordIsRefused() {
        #expect(code { _ = try reader(Record().bytes()).record(at: 20, length: 40) } == .badRecord)
    }

    @Test func recordNeverReadsItsNeighbor() throws {
        let (bytes, ranges) = ArchiveBuilder.warc([Record(declaredLength: 90), Record()], gzip: false)
        let record = try reader(bytes).record(at: 0, length: UInt64(ranges[0].count))
        #expect(code { _ = try record.openBlock().readAll(limit: 1000) } == .truncated)
    }

    @Test func detectsWrongGzipChecksum() throws {
        var bytes = ArchiveBuilder.warc([Record()]).bytes
        bytes[bytes.count - 8] ^= 1
        let damaged = bytes
        #expect(code { _ = try reader(damaged).record(at: 0).openBlock().readAll(limit: 1000) } == .badGzip)
    }

    @Test func endlessHeaderIsRefused() {
        let source = MemoryByteSource(Array("WARC/1.0\r\nA: \(String(repeating: "x", count: 5000))".utf8), name: "x")
        var limits = Limits.standard
        limits.warcHeaderBytesMax = 1000
        #expect(code { _ = try WARCReader(source, limits: limits).record(at: 0) } == .tooLarge)
    }

    @Test func arcFileIsRefusedWithAMessage() {
        let bytes = Array("filedesc://x.arc 0.0.0.0 20240102030405 text/plain 0\n".utf8)
        let error = #expect(throws: WebArchiveError.self) { _ = try reader(bytes).record(at: 0) }
        #expect(error?.hint?.contains("ARC") == true)
    }

    @Test func readsLargeBodyInPieces() throws {
        let body = String(repeating: "0123456789", count: 50_000)
        let made = Record(block: "HTTP/1.1 200 OK\r\n\r\n" + body)
        let record = try reader(ArchiveBuilder.warc([made]).bytes).record(at: 0)
        var sizes: [Int] = []
        try record.forEachChunk(chunkBytesMax: 4096) { chunk in
            sizes.append(chunk.count)
            return sizes.count < 3
        }
        #expect(sizes.count == 3)
        #expect(sizes.allSatisfy { $0 <= 4096 })
    }
}

struct WARCScannerTests {
    private func urls(_ bytes: [UInt8]) throws -> (urls: [String?], ends: [UInt64], codes: [String]) {
        let scanner = try reader(bytes).makeScanner()
        var urls: [String?] = []
        var ends: [UInt64] = []
        while let item = try scanner.next() {
            urls.append(item.record.targetURI)
            ends.append(item.record.offset + item.length)
        }
        return (urls, ends, scanner.findings.map(\.code))
    }

    @Test func scansGzipMembersWithTheirLengths() throws {
        let (bytes, ranges) = ArchiveBuilder.warc([Record(url: "a:1"), Record(url: "a:2"), Record(url: "a:3")])
        let found = try urls(bytes)
        #expect(found.urls == ["a:1", "a:2", "a:3"])
        #expect(found.ends == ranges.map { UInt64($0.upperBound) })
        #expect(found.codes.isEmpty)
    }

    @Test func scansUncompressedRecords() throws {
        let (bytes, _) = ArchiveBuilder.warc([Record(url: "a:1"), Record(url: "a:2")], gzip: false)
        #expect(try urls(bytes).urls == ["a:1", "a:2"])
    }

    @Test func skipsDamagedMember() throws {
        var (bytes, ranges) = ArchiveBuilder.warc([Record(url: "a:1"), Record(url: "a:2"), Record(url: "a:3")])
        for position in ranges[1].dropFirst(20).prefix(30) { bytes[position] = 0xFF }
        let found = try urls(bytes)
        #expect(found.urls == ["a:1", "a:3"])
        #expect(found.codes.contains("warc-damaged"))
    }

    @Test func truncatedUncompressedRecordIsAFinding() throws {
        let (bytes, _) = ArchiveBuilder.warc([Record(url: "a:1"), Record(url: "a:2")], gzip: false)
        let found = try urls(Array(bytes.dropLast(20)))
        #expect(found.urls == ["a:1"])
        #expect(found.codes == ["warc-damaged"])
    }
}

struct WARCDigestTests {
    // The digest of no bytes, from `sha1sum`, `sha256sum` and `base32` of coreutils.
    private static let sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    private static let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    @Test(arguments: [
        ("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", WARCDigest.Algorithm.sha1, sha1),
        ("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", .sha1, sha1), ("sha256:\(sha256)", .sha256, sha256),
        ("sha-256:\(sha256)", .sha256, sha256), (sha256, .sha256, sha256), ("SHA-1:\(sha1)", .sha1, sha1),
        ("sha1:\(sha1.uppercased())", .sha1, sha1),
    ])
    func parsesEverySpelling(_ text: String, _ algorithm: WARCDigest.Algorithm, _ hex: String) {
        #expect(WARCDigest(text)?.algorithm == algorithm)
        #expect(WARCDigest(text)?.hex == hex)
    }

    @Test(arguments: [
        "", ":", "sha1:", "sha1:\(sha1.replacing("a", with: "\u{FF41}"))", "sha256:da39", "sha1:0000", "crc:12345678",
        "sha1:!I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
    ])
    func otherTextsAreNil(_ text: String) {
        #expect(WARCDigest(text) == nil)
    }
}
