import Testing

@testable import WebArchive

/// Records in segments, last records that are cut, and spellings that other programs write. WARC 1.1 §7.
struct SegmentedRecordsTests {
    private typealias Record = ArchiveBuilder.Record

    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n"
    private static let body = "AAABBBCCC"
    private static let url = "http://example.org/big"
    /// `printf AAABBBCCC | sha1sum`, in base32.
    private static let digest = "sha1:LVUIKE2IFK4FPMR6EORA5I5UYGDTWZRU"

    /// A response in three segments, after its request.
    private static func segments(_ method: String = "GET") -> [Record] {
        let total = "WARC-Segment-Total-Length: \(head.utf8.count + 9)"
        func part(_ number: Int, _ text: String, _ more: [String]) -> Record {
            let isFirst = number == 1
            let extra =
                ["WARC-Record-ID: <urn:test:\(number)>", "WARC-Segment-Number: \(number)"]
                + (isFirst ? [] : ["WARC-Segment-Origin-ID: <urn:test:1>"])
            return Record(
                type: isFirst ? "response" : "continuation", url: url, block: text, extra: extra + more)
        }
        var request = Record(type: "request", url: url, block: "\(method) /big HTTP/1.1\r\n\r\n")
        request.extra = ["Content-Type: application/http; msgtype=request"]
        return [
            request, part(1, head + "AAA", ["WARC-Payload-Digest: \(digest)"]), part(2, "BBB", []),
            part(3, "CCC", [total]),
        ]
    }

    /// Packs files, as an import does.
    private func packed(_ files: [[UInt8]]) throws -> (wacz: WACZFile, result: WACZWriter.Result) {
        try withFolder { folder in
            let writer = try WACZWriter(path: "\(folder)/a.wacz")
            for (number, bytes) in files.enumerated() {
                #expect(try writer.addCaptures(MemoryByteSource(bytes, name: "\(number).warc"), name: "\(number).warc"))
            }
            let result = try writer.finish()
            return (try WACZFile.open(FileByteSource(path: "\(folder)/a.wacz")), result)
        }
    }

    private func body(_ wacz: WACZFile, _ url: String = url) throws -> String? {
        guard let entry = try wacz.captures(ofURL: url).first else { return nil }
        let content = try RecordContent(wacz.record(of: entry))
        return String(decoding: try content.openBody().readAll(limit: 1000), as: UTF8.self)
    }

    private static func bytes(_ records: [Record], gzip: Bool = false) -> [UInt8] {
        ArchiveBuilder.warc(records, gzip: gzip).bytes
    }

    @Test(arguments: ["one file", "gzip", "three files", "last first", "one member", "interrupted"])
    func segmentsAreJoined(_ form: String) throws {
        let parts = Self.segments()
        let other = Record(url: "http://example.org/other")
        let files: [[UInt8]] =
            switch form {
            case "one file": [Self.bytes(parts)]
            case "gzip": [Self.bytes(parts, gzip: true)]
            case "three files":
                [Self.bytes(Array(parts[..<2])), Self.bytes([parts[2]]), Self.bytes([parts[3], other])]
            case "last first": [Self.bytes([parts[3]]), Self.bytes([parts[2], parts[0], parts[1]])]
            case "one member": [Deflater.gzip(Self.bytes(parts))]
            default: [Self.bytes([parts[0], parts[1], other, parts[2], other, parts[3]], gzip: true)]
            }
        let (wacz, result) = try packed(files)
        #expect(result.findings.map(\.code) == ["warc-segments-joined"])
        #expect(try body(wacz) == Self.body)
        let entry = try #require(try wacz.captures(ofURL: Self.url).first)
        #expect(try wacz.captures(ofURL: Self.url).count == 1)
        #expect(entry.filename == "segments.warc.gz" && entry.digest == Self.digest && entry.status == 200)
        let record = try wacz.record(of: entry)
        #expect(!record.isFirstSegment && record.headers["WARC-Segment-Number"] == nil)
        #expect(record.headers["WARC-Payload-Digest"] == Self.digest)
        let verification = try ArchiveVerifier(wacz, lookups: FileLookups(wacz)).run()
        #expect(verification.records.failed == 0 && verification.captures.failed == 0)
        #expect(!verification.findings.contains { $0.severity != .notice && $0.code.hasPrefix("record") })
    }

    @Test func methodOfTheRequestStaysInTheKey() throws {
        let (wacz, _) = try packed([Self.bytes(Self.segments("PUT"))])
        #expect(try wacz.captures(ofURL: Self.url).map(\.method) == ["PUT"])
    }

    /// What was joined once isn't joined again.
    @Test func joinedRecordsStayAsTheyAre() throws {
        let (first, _) = try packed([Self.bytes(Self.segments())])
        let files = try first.warcEntries.map { try first.directory.contents(of: $0, limit: 1 << 20) }
        let (wacz, result) = try packed(files.reversed())
        #expect(result.findings.isEmpty)
        #expect(try wacz.captures(ofURL: Self.url).count == 1)
        #expect(try body(wacz) == Self.body)
    }

    /// Anyone can write the field that names what was joined.
    @Test(arguments: ["another URL", "other bytes"]) func otherRecordsDoNotHideSegments(_ form: String) throws {
        var other = Record(
            url: form == "another URL" ? "http://example.org/other" : Self.url, block: Self.head + "XXXXXXXXX")
        other.extra = [
            "Replayhost-Joined-Segments-Of: <urn:test:1>", "WARC-Record-ID: <urn:test:9>",
            "WARC-Date: 2001-01-01T00:00:00Z",
            "WARC-Block-Digest: sha256:\(String(repeating: "00", count: 32))",
        ]
        let (wacz, result) = try packed([Self.bytes(Self.segments() + [other])])
        #expect(result.sourceFindings.map(\.code).contains("warc-segments-joined"))
        let bodies = try wacz.captures(ofURL: Self.url).map {
            String(decoding: try RecordContent(wacz.record(of: $0)).openBody().readAll(limit: 1000), as: UTF8.self)
        }
        #expect(bodies.contains(Self.body))
    }

    @Test(arguments: [
        ([0, 1, 2], "Only the first segment of a capture"), ([0, 1, 3], "Only the first of 3 segments of a capture"),
        ([0, 1], "Only the first segment of a capture"), ([0, 1, 1, 3], "Only the first of 3 segments of a capture"),
    ])
    func missingSegmentsAreReported(_ kept: [Int], _ what: String) throws {
        let (wacz, result) = try packed([Self.bytes(kept.map { Self.segments()[$0] })])
        #expect(result.findings.map(\.code).contains("warc-segments-missing"))
        #expect(result.findings.contains { $0.what.hasPrefix(what) && $0.urls == [Self.url] })
        #expect(try body(wacz) == "AAA")
        let record = try wacz.record(of: try #require(try wacz.captures(ofURL: Self.url).first))
        #expect(record.isFirstSegment)
        // The payload digest is of the whole payload.
        let verification = try ArchiveVerifier(wacz, lookups: FileLookups(wacz)).run()
        #expect(verification.records.failed == 0)
        #expect(verification.findings.contains { $0.code == "warc-segments-missing" })
    }

    @Test func segmentsOfAnotherLengthAreNotJoined() throws {
        var parts = Self.segments()
        parts[2].block = "BBBB"
        let (wacz, result) = try packed([Self.bytes(parts)])
        #expect(result.findings.map(\.code) == ["warc-segments-missing"])
        #expect(try body(wacz) == "AAA")
    }

    // A last record that is cut ----------------------------------------------------------------------------------------

    private static let arcHead = "filedesc://a.arc 0.0.0.0 20240102030405 text/plain 4\n1 0 \n"
    private static let arcRecord = "http://example.org/big 192.0.2.1 20240102030405 text/html \(head.utf8.count + 9)\n"

    @Test(arguments: ["arc", "arc.gz", "one.arc.gz", "one.warc.gz", "two.warc.gz"])
    func bytesOfACutRecordAreKept(_ form: String) throws {
        let arc = Array((Self.arcRecord + Self.head + Self.body).utf8)
        let first = Record(url: "http://example.org/first")
        let whole = Self.bytes([Record(url: Self.url, block: Self.head + Self.body)])
        let text = Self.bytes([first]) + whole.dropLast(4 + 3)
        // The compressed bytes are cut where they hold the same.
        let bytes: [UInt8] =
            switch form {
            case "arc": Array(Self.arcHead.utf8) + arc.dropLast(3)
            case "arc.gz": Deflater.gzip(Array(Self.arcHead.utf8)) + Deflater.gzip(Array(arc.dropLast(3))).dropLast(8)
            case "one.arc.gz": Deflater.gzip(Array(Self.arcHead.utf8) + arc.dropLast(3))
            case "one.warc.gz": Deflater.gzip(text)
            default: Deflater.gzip(Array(text.prefix(300))) + Deflater.gzip(Array(text.dropFirst(300))).dropLast(8)
            }
        let (wacz, result) = try packed([bytes])
        #expect(result.findings.contains { $0.severity == .error && $0.code == "warc-damaged" })
        #expect(try body(wacz) == String(Self.body.dropLast(3)))
        #expect(
            try wacz.record(of: try #require(try wacz.captures(ofURL: Self.url).first)).headers["WARC-Truncated"]
                == "unspecified")
    }

    /// Without a whole head, nothing can be shown.
    @Test(arguments: [true, false])
    func headThatIsCutIsNoCapture(_ isARC: Bool) throws {
        let arc = Array((Self.arcHead + Self.arcRecord + Self.head.dropLast(2)).utf8)
        let warc = Self.bytes([Record(url: "http://example.org/first"), Record(url: Self.url, block: Self.head)])
        let (wacz, result) = try packed([isARC ? arc : Deflater.gzip(Array(warc.dropLast(4 + 2)))])
        #expect(result.findings.map(\.code) == ["warc-damaged"])
        #expect(try body(wacz) == nil)
    }

    // Other spellings --------------------------------------------------------------------------------------------------

    @Test(arguments: [
        ("lower case", "warc-version-line", 2), ("digest", "warc-digest-unknown", 2),
        ("empty member", "warc-empty-member", 2), ("empty member first", "warc-empty-member", 2),
    ])
    func otherSpellingsAreReadWithANotice(_ form: String, _ code: String, _ count: Int) throws {
        var records = [Record(url: "http://example.org/first"), Record(url: Self.url, block: Self.head + Self.body)]
        if form == "lower case" { records[1].version = "warc/1.0" }
        if form == "digest" { records[1].extra = ["WARC-Payload-Digest: garbage"] }
        let members = records.map { Deflater.gzip($0.bytes()) }
        let empty = Deflater.gzip([])
        let bytes =
            switch form {
            case "empty member": members[0] + empty + empty + members[1]
            case "empty member first": empty + members[0] + members[1]
            default: members[0] + members[1]
            }
        let (wacz, result) = try packed([bytes])
        #expect(Set(result.findings.map(\.code)) == [code])
        #expect(result.findings.allSatisfy { $0.severity == .notice })
        #expect(result.captureCount == count)
        #expect(try body(wacz) == Self.body)
        // `printf AAABBBCCC | sha256sum`
        let sum = "sha256:f565e5f4a898e80173e54aa68c8d35f4a3521aa29a0b60567b495ef17ecdfc4a"
        #expect(try wacz.captures(ofURL: Self.url).map(\.digest) == [sum])
    }
}
