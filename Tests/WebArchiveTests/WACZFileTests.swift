import Testing

@testable import WebArchive

private typealias Entry = ZIPBuilder.Entry

private func codes(_ bytes: [UInt8]) throws -> [String] {
    try ArchiveBuilder.open(bytes).inspect().findings.map(\.code)
}

struct WACZFileTests {
    @Test func findsEveryPart() throws {
        let wacz = try ArchiveBuilder.open(ArchiveBuilder.wacz())
        #expect(wacz.warcEntries.map(\.name) == ["archive/data.warc.gz"])
        #expect(wacz.indexEntries.map(\.name) == ["indexes/index.cdx"])
        #expect(wacz.pageEntries.map(\.name) == ["pages/pages.jsonl"])
        #expect(wacz.dataPackage?.waczVersion == "1.1.1")
        #expect(wacz.openFindings.isEmpty)
    }

    @Test func readsFromACopyWithoutParsing() throws {
        let bytes = ArchiveBuilder.wacz()
        let original = CountingByteSource(MemoryByteSource(bytes, name: "original.wacz"))
        let copy = CountingByteSource(MemoryByteSource(bytes, name: "copy.wacz"))
        let opened = try WACZFile.open(original)
        #expect(try opened.captures(ofURL: "http://example.org/two").count == 1)
        let wacz = opened.reading(from: copy)
        #expect(copy.take().reads == 0)
        _ = original.take()
        #expect(wacz.name == "copy.wacz")
        #expect(try wacz.inspect() == ArchiveBuilder.open(bytes).inspect())
        #expect(try wacz.captures(ofURL: "http://example.org/two").count == 1)
        #expect(copy.take().reads > 0)
        #expect(original.take().reads == 0)
    }

    @Test(arguments: [("http://example.org/two", 1), ("https://EXAMPLE.org/two#x", 1), ("http://example.org/three", 0)])
    func findsCapturesByURL(_ url: String, _ count: Int) throws {
        let wacz = try ArchiveBuilder.open(ArchiveBuilder.wacz())
        let captures = try wacz.captures(ofURL: url)
        #expect(captures.count == count)
        for capture in captures {
            #expect(try wacz.record(of: capture).targetURI == "http://example.org/two")
        }
    }

    @Test func lookupsReadDeflatedWARC() throws {
        let bytes = ArchiveBuilder.wacz { $0[0].isDeflated = true }
        let wacz = try ArchiveBuilder.open(bytes)
        let capture = try #require(try wacz.captures(ofURL: "http://example.org/two").first)
        #expect(try wacz.record(of: capture).openHTTPMessage().readAll(limit: 100) == Array("hello".utf8))
        #expect(try codes(bytes).contains("warc-deflated"))
    }

    /// 72 MB of zeros, more than `CancellationCheck` allows between two checks.
    @Test func recordFarInsideADeflatedWARCIsRefusedOrCancelled() throws {
        let zeros = [UInt8](repeating: 0, count: 72 << 20)
        let bytes = ArchiveBuilder.wacz { $0[0] = Entry("archive/data.warc", zeros).with { $0.isDeflated = true } }
        let entry = CDXJEntry(
            urlKey: "org,example)/", timestamp: "20240102030405", url: "http://example.org/",
            filename: "data.warc", offset: 70 << 20, length: 10)
        var limits = Limits.standard
        limits.deflatedBytesBeforeRecordMax = (70 << 20) - 1
        limits.deflatedBytesAlwaysAllowed = 1 << 30
        let source = CountingByteSource(MemoryByteSource(bytes, name: "crawl.wacz"))
        let strict = try WACZFile.open(source, limits: limits)
        _ = source.take()
        let refused = #expect(throws: WebArchiveError.self) { _ = try strict.record(of: entry) }
        #expect(refused?.code == .tooLarge)
        #expect(refused?.problem.contains("73400320 bytes come before the record, and the limit is 73400319") == true)
        #expect(source.take().bytes < 100, "nothing is inflated")

        // 72 MB take 72 kB in the ZIP: the ratio is larger than that of any record.
        #expect(code { _ = try ArchiveBuilder.open(bytes).content(of: entry, CancellationCheck()) } == .tooLarge)
        limits.deflatedBytesBeforeRecordMax = 1 << 30
        let wacz = try WACZFile.open(MemoryByteSource(bytes, name: "crawl.wacz"), limits: limits)
        #expect(code { _ = try wacz.content(of: entry, CancellationCheck()) } == .badRecord)
        #expect(code { _ = try wacz.content(of: entry, CancellationCheck { false }) } == .cancelled)
    }

    @Test(arguments: [
        "../indexes/index.cdx", "/archive/data.warc.gz", "", ".", "../archive/data.warc.gz", "DATA.warc.gz",
    ])
    func indexFilenamesNeverLeaveTheArchiveFolder(_ filename: String) throws {
        let wacz = try ArchiveBuilder.open(ArchiveBuilder.wacz())
        let entry = CDXJEntry(
            urlKey: "k", timestamp: "2024", url: "http://a/", filename: filename, offset: 0, length: 10)
        #expect(code { _ = try wacz.record(of: entry) } == .badIndex)
    }

    /// The layout of py-wacz 0.1: only datapackage.json is at the top of the ZIP.
    @Test func capturesInTheDataFolderAreRead() throws {
        let bytes = ArchiveBuilder.wacz { entries in
            for place in entries.indices where !String(decoding: entries[place].name, as: UTF8.self).contains("package")
            {
                entries[place].name = Array("data/".utf8) + entries[place].name
            }
        }
        let wacz = try ArchiveBuilder.open(bytes)
        let capture = try #require(try wacz.captures(ofURL: "http://example.org/two").first)
        #expect(try wacz.record(of: capture).targetURI == "http://example.org/two")
        let (inspection, usual) = (try wacz.inspect(), try ArchiveBuilder.open(ArchiveBuilder.wacz()).inspect())
        #expect(inspection.captureCount == usual.captureCount && inspection.pageCount == usual.pageCount)
        #expect(inspection.findings.contains { $0.code == "data-folder" && $0.severity == .warning })
    }

    @Test func archiveInAnotherFolderIsRefusedWithAHint() {
        let bytes = ArchiveBuilder.wacz { entries in
            for place in entries.indices { entries[place].name = Array("crawl/".utf8) + entries[place].name }
        }
        let error = #expect(throws: WebArchiveError.self) { _ = try ArchiveBuilder.open(bytes) }
        #expect(error?.code == .noArchiveData && error?.hint?.contains("another folder") == true)
    }

    @Test func multiWACZIsRefusedWithAMessage() {
        let bytes = ArchiveBuilder.wacz { entries in
            entries[3] = Entry(
                "datapackage.json",
                #"{"profile":"multi-wacz-package","resources":[{"path":"a.wacz"},{"path":"b.wacz"}]}"#)
        }
        let error = #expect(throws: WebArchiveError.self) { _ = try ArchiveBuilder.open(bytes) }
        #expect(error?.code == .multiWACZ)
        #expect(
            error?.description
                == "crawl.wacz: the multi-WACZ contains none of the WACZ files that it lists (2); import the WACZ files that datapackage.json lists"
        )
        let nested = ArchiveBuilder.wacz { $0[0] = Entry("archive/inner.wacz", "x") }
        #expect(code { _ = try ArchiveBuilder.open(nested) } == .multiWACZ)
    }

    // `FuzzReaderTests` (`zip`) tests the memory use of these three.
    @Test func truncatedArchivesAreRefused() {
        let bytes = ArchiveBuilder.wacz()
        for length in 0..<bytes.count {
            let found = code { try readEverything(Array(bytes.prefix(length))) }
            #expect(found != nil, "the first \(length) of \(bytes.count) bytes were read as a whole WACZ")
        }
    }

    @Test(arguments: [false, true])
    func flippedBytesNeverCrash(_ isDeflated: Bool) {
        let bytes = ArchiveBuilder.wacz { entries in
            for position in entries.indices { entries[position].isDeflated = isDeflated }
        }
        var generator = SeededGenerator(state: 1)
        var refused = 0
        for position in bytes.indices {
            var flipped = bytes
            flipped[position] ^= UInt8.random(in: 1...255, using: &generator)
            let damaged = flipped
            if code(of: { try readEverything(damaged) }) != nil { refused += 1 }
        }
        #expect(refused > 0)
    }

    @Test func randomDamageNeverCrashes() {
        let bytes = ArchiveBuilder.wacz { $0[1].isDeflated = true }
        var generator = SeededGenerator(state: 2)
        for _ in 0..<500 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...40, using: &generator) {
                let position = Int.random(in: damaged.indices, using: &generator)
                damaged[position] =
                    [0, 0xFF, 0x7F, 0x80, UInt8.random(in: 0...255, using: &generator)]
                    .randomElement(using: &generator) ?? 0
            }
            let final = damaged
            _ = code(of: { try readEverything(final) })
        }
    }

    /// Opens, inspects, and reads every page and record. Damage in a record is expected.
    private func readEverything(_ bytes: [UInt8]) throws {
        let wacz = try ArchiveBuilder.open(bytes)
        _ = try wacz.inspect()
        try wacz.forEachPage { _ in true }
        try wacz.forEachIndexEntry { entry, _ in
            _ = code { try wacz.record(of: entry).forEachChunk { _ in true } }
            return true
        }
    }
}

struct WACZInspectionTests {
    @Test func validArchiveHasOnlyTheFindingOfItsEmptyList() throws {
        let inspection = try ArchiveBuilder.open(ArchiveBuilder.wacz()).inspect()
        #expect(inspection.captureCount == 2)
        #expect(inspection.pageCount == 1)
        #expect(inspection.firstCapture?.digits14 == "20240102030405")
        #expect(inspection.findings.map(\.code) == ["resources-missing"])
    }

    @Test func readsRecordsIfTheIndexIsMissing() throws {
        let bytes = ArchiveBuilder.wacz { $0.remove(at: 1) }
        let inspection = try ArchiveBuilder.open(bytes).inspect()
        #expect(inspection.captureCount == 2)
        #expect(inspection.findings.map(\.code).contains("index-missing"))
        let captures = try ArchiveBuilder.open(bytes).captures(ofURL: "http://example.org/two")
        #expect(captures.map(\.urlKey) == ["org,example)/two"])
        #expect(captures.first?.status == 200)
        #expect(captures.first?.mime == "text/html")
    }

    @Test func readsRecordsIfTheIndexHasNoValidLine() throws {
        let bytes = ArchiveBuilder.wacz { $0[1] = Entry("indexes/index.cdx", "garbage\n") }
        let inspection = try ArchiveBuilder.open(bytes).inspect()
        #expect(inspection.captureCount == 2)
        #expect(inspection.findings.map(\.code).contains("index-empty"))
    }

    @Test func readsAllMembersOfAGzippedIndex() throws {
        let bytes = ArchiveBuilder.wacz { entries in
            let lines = entries[1].content.split(separator: 0x0A).map { Array($0) + [0x0A] }
            entries[1] = Entry("indexes/index.cdx.gz", lines.flatMap { Deflater.gzip($0) })
        }
        let inspection = try ArchiveBuilder.open(bytes).inspect()
        #expect(inspection.captureCount == 2)
        #expect(inspection.findings.map(\.code).contains("idx-missing"))
        #expect(inspection.findings.map(\.severity).max() == .warning)
    }

    @Test func damagedGzippedIndexIsAFinding() throws {
        let bytes = ArchiveBuilder.wacz { entries in
            var gzip = Deflater.gzip(entries[1].content)
            gzip[gzip.count - 6] ^= 1
            entries[1] = Entry("indexes/index.cdx.gz", gzip)
        }
        #expect(try codes(bytes).contains("index-damaged"))
    }

    @Test func gzippedIndexBombIsRefused() {
        let bytes = ArchiveBuilder.wacz { entries in
            let spaces = [UInt8](repeating: 0x20, count: 1 << 18)
            entries[1] = Entry("indexes/index.cdx.gz", Deflater.gzip(spaces))
        }
        var limits = Limits.standard
        limits.inflatedBytesAlwaysAllowed = 1 << 16
        let strict = limits
        #expect(code { _ = try ArchiveBuilder.open(bytes, limits: strict).inspect() } == .tooLarge)
        #expect(code { _ = try ArchiveBuilder.open(bytes).inspect() } == nil)
    }

    @Test(arguments: [
        (
            #"{"profile":"data-package","wacz_version":"1.1.1","resources":[{"path":"archive/x.warc"}]}"#,
            "error resource-missing"
        ),
        (
            #"{"profile":"data-package","wacz_version":"1.1.1","resources":[{"path":"pages/x.jsonl"}]}"#,
            "warning resource-missing"
        ),
        (
            #"{"profile":"data-package","wacz_version":"1.1.1","resources":[{"path":"indexes/index.cdx","bytes":1}]}"#,
            "warning resource-size-differs"
        ),
        (
            #"{"profile":"data-package","wacz_version":"1.1.1","resources":[{"path":"indexes/index.cdx"}]}"#,
            "notice entry-unlisted"
        ),
        (#"{"wacz_version":"1.1.1"}"#, "notice profile-missing"), (#"{"profile":"wacz"}"#, "notice version-missing"),
        (#"{"profile":"#, "warning datapackage-not-json"), ("[]", "warning datapackage-not-json"),
        ("\u{FEFF}{\"profile\":\"data-package\"}", "notice byte-order-mark"),
        (#"{"profile":"spreadsheet"}"#, "notice profile-unknown"),
        (#"{"resources":[{"path":"indexes/index.cdx","hash":"blake3:0011"}]}"#, "notice hash-unknown"),
        (#"{"resources":[{"path":"indexes/index.cdx","hash":"sha256:0011"}]}"#, "notice hash-unknown"),
    ])
    func checksDescription(_ json: String, _ expected: String) throws {
        let bytes = ArchiveBuilder.wacz { $0[3] = Entry("datapackage.json", json) }
        let found = try ArchiveBuilder.open(bytes).inspect().findings.map { "\($0.severity) \($0.code)" }
        #expect(found.contains(expected))
    }

    @Test(arguments: ["data-package", "wacz", "wacz-package", "multi-wacz-package"])
    func knownProfilesGiveNoFinding(_ profile: String) throws {
        let bytes = ArchiveBuilder.wacz {
            $0[3] = Entry("datapackage.json", #"{"profile":"\#(profile)","wacz_version":"1.1.1"}"#)
        }
        guard profile != "multi-wacz-package" else {
            return #expect(code { _ = try ArchiveBuilder.open(bytes) } == .multiWACZ)
        }
        #expect(try codes(bytes) == ["resources-missing"])
    }

    // SHA-256, SHA-1, MD5 and SHA-512 of no bytes, from coreutils, with labels and spellings of published files.
    @Test(arguments: [
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "sha-256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709", "md5:d41d8cd98f00b204e9800998ecf8427e", "",
    ])
    func knownHashesGiveNoFinding(_ hash: String) throws {
        let bytes = ArchiveBuilder.wacz {
            $0[3] = Entry("datapackage.json", #"{"resources":[{"path":"indexes/index.cdx","hash":"\#(hash)"}]}"#)
            $0.append(Entry("datapackage-digest.json", #"{"path":"datapackage.json","hash":"\#(hash)"}"#))
        }
        let found = try codes(bytes)
        #expect(!found.contains("hash-unknown"))
        #expect(found.contains("hash-weak") == (hash.hasPrefix("md5:") || hash.hasPrefix("sha1:")))
    }

    @Test func unknownHashInTheDigestIsANotice() throws {
        let bytes = ArchiveBuilder.wacz { $0.append(Entry("datapackage-digest.json", #"{"hash":"crc32:00112233"}"#)) }
        let found = try ArchiveBuilder.open(bytes).inspect().findings.first { $0.code == "hash-unknown" }
        #expect(found?.what == "A hash uses an unknown algorithm: \"crc32\".")
        #expect(found?.location == "datapackage-digest.json")
    }

    @Test func reportsDescriptionInUTF16() throws {
        let bytes = ArchiveBuilder.wacz { $0[3] = Entry("datapackage.json", [0xFF, 0xFE, 0x7B, 0, 0x7D, 0]) }
        let found = try ArchiveBuilder.open(bytes).inspect().findings.first { $0.code == "datapackage-not-json" }
        #expect(found?.what.contains("UTF-16") == true)
    }

    @Test(arguments: [false, true])
    func zipInsteadOfAWARCIsAnErrorFinding(_ isDeflated: Bool) throws {
        let bytes = ArchiveBuilder.wacz {
            $0[0] = Entry("archive/data.warc.gz", ArchiveBuilder.wacz()).with { $0.isDeflated = isDeflated }
        }
        let found = try ArchiveBuilder.open(bytes).inspect().findings.filter { $0.code == "warc-is-zip" }
        #expect(found.map(\.severity) == [.error])
        #expect(found.map(\.location) == ["archive/data.warc.gz"])
    }

    @Test(arguments: [(0, false), (5, true)])
    func idxOffsetInsideABlockIsAWarning(_ shift: Int, _ isFound: Bool) throws {
        let bytes = ArchiveBuilder.wacz { entries in
            let lines = entries[1].content.split(separator: 0x0A).map { Array($0) + [0x0A] }
            let blocks = lines.map { Deflater.gzip($0) }
            let idx = [
                "org,example)/ 20240102030405 {\"offset\":0,\"length\":\(blocks[0].count)}",
                "org,example)/two 20240102030405 {\"offset\":\(blocks[0].count + shift),\"length\":\(blocks[1].count - shift)}",
            ]
            entries[1] = Entry("indexes/index.cdx.gz", blocks[0] + blocks[1])
            entries.append(Entry("indexes/index.idx", idx.joined(separator: "\n") + "\n"))
        }
        let found = try ArchiveBuilder.open(bytes).inspect().findings.filter { $0.code == "idx-wrong-offset" }
        #expect(found.map(\.location) == (isFound ? ["indexes/index.idx line 2"] : []))
    }

    @Test(
        arguments: [(0, 0), (0, 100_000), (100_000, 1), (1 << 63 - 1, 1 << 63 - 1), (.max, .max)] as [(UInt64, UInt64)])
    func recordOutsideItsFileIsAnErrorFinding(_ offset: UInt64, _ length: UInt64) throws {
        let line =
            #"org,example)/ 2024 {"url":"http://example.org/","filename":"data.warc.gz","offset":\#(offset),"length":\#(length)}"#
        let bytes = ArchiveBuilder.wacz { $0[1] = Entry("indexes/index.cdx", line) }
        #expect(try codes(bytes).contains("index-outside-warc"))
    }

    @Test func inspectionCanBeCancelled() {
        let bytes = ArchiveBuilder.wacz()
        let stop = WebArchiveError(code: .cancelled, problem: "stop", file: "")
        #expect(code { _ = try ArchiveBuilder.open(bytes).inspect { _, _ in throw stop } } == .cancelled)
    }

    @Test func progressEndsAtTheTotal() throws {
        var last: (UInt64, UInt64) = (0, 1)
        _ = try ArchiveBuilder.open(ArchiveBuilder.wacz()).inspect { read, total in
            last = (read, total)
        }
        #expect(last.0 == last.1)
        #expect(last.1 > 0)
    }

    @Test(arguments: [
        ("!meta 0 {}", true), ("", true), ("k 2024 {\"offset\":0,\"length\":100}", true),
        ("k 2024\tindex\t0\t100\t1", true),
        ("k 2024 {\"offset\":0,\"length\":101}", false), ("k 2024\tindex\t1\t100", false), ("garbage", false),
        ("\t\t\t", false), ("k {\"offset\":18446744073709551615,\"length\":18446744073709551615}", false),
    ])
    func recognizesZipNumLinesWithinTheIndex(_ line: String, _ expected: Bool) {
        #expect(ZipNumLine.isValid(Array(line.utf8), blocksLength: 100) == expected)
    }
}

struct DataPackageTests {
    private func parse(_ json: String) throws(WebArchiveError) -> DataPackage {
        try DataPackage.parse(Array(json.utf8), file: "a.wacz/datapackage.json", limits: .standard)
    }

    @Test(arguments: [
        #"{"mainPageUrl":"http://a/","mainPageDate":"2024-01-02T03:04:05Z"}"#,
        #"{"mainPageURL":"http://a/","mainPageTS":"20240102030405"}"#,
        #"{"home":{"url":"http://a/","ts":1704164645000}}"#,
    ])
    func readsThreeSpellingsOfTheMainPage(_ json: String) throws {
        let page = try parse(json).mainPage
        #expect(page?.url == "http://a/")
        #expect(page?.timestamp?.digits14 == "20240102030405")
    }

    @Test(arguments: [
        #"{"path":"x","hash":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","bytes":5}"#,
        #"{"path":"x","hash":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","bytes":"5"}"#,
        #"{"path":"x","stats":{"hash":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","bytes":5}}"#,
    ])
    func readsThreeSpellingsOfHashes(_ resource: String) throws {
        let found = try #require(try parse("{\"resources\":[\(resource)]}").resources.first)
        #expect(found.hash?.algorithm == .sha256)
        #expect(found.hash?.bytes.first == 0xE3)
        #expect(found.bytes == 5)
    }

    @Test func readsRequirements() throws {
        let json = #"{"relation":{"requires":[{"filename":"b.wacz","hash":"x","crawlId":"c1"}]}}"#
        #expect(try parse(json).requirements == [.init(filename: "b.wacz", hash: nil, crawlID: "c1")])
    }

    // SHA-256 of no bytes, from coreutils: e3b0c442…
    @Test(arguments: ["", "sha256:", "sha-256:"])
    func readsHashesOfRequirements(label: String) throws {
        let hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        let json = "{\"relation\":{\"requires\":[{\"filename\":\"b.wacz\",\"hash\":\"\(label)\(hash)\"}]}}"
        let found = try #require(try parse(json).requirements.first)
        #expect(found.hash?.algorithm == .sha256)
        #expect(found.hash?.hex == hash)
    }

    @Test func invalidJSONIsReportedWithItsPosition() {
        let error = #expect(throws: WebArchiveError.self) { _ = try parse(#"{"a":1,}"#) }
        #expect(error?.code == .badJSON)
        #expect(error?.offset == 7)
    }

    @Test(arguments: [
        (#"{"hash":"h"}"#, nil),
        (#"{"signedData":{"signature":"s","publicKey":"k"}}"#, DataPackageDigest.Signer.anonymous),
        (#"{"signedData":{"signature":"s","domain":"a.org"}}"#, .domain("a.org")),
    ])
    func readsSigner(_ json: String, _ expected: DataPackageDigest.Signer?) throws {
        let digest = try DataPackageDigest.parse(Array(json.utf8), file: "x", limits: .standard)
        #expect(digest.signer == expected)
    }

    @Test func readsLayoutBeforeVersionOne() throws {
        let yaml =
            "pages:\n- date: '2020-10-07T21:22:36Z'\n  title: 'It''s'\n  url: http://a/\n- url: http://b/\ntitle: \"T: x\"\n"
        let wacz = try ArchiveBuilder.open(
            ArchiveBuilder.wacz {
                $0.removeLast(2)
                $0.append(Entry("webarchive.yaml", yaml))
            })
        #expect(wacz.dataPackage?.title == "T: x")
        var pages: [Page] = []
        try wacz.forEachPage {
            pages.append($0)
            return true
        }
        #expect(pages.map(\.url) == ["http://a/", "http://b/"])
        #expect(pages.first?.title == "It's")
        #expect(pages.first?.timestamp == "2020-10-07T21:22:36Z")
    }
}

struct PageListTests {
    private func pages(_ lists: [(String, String)], isDeflated: Bool = false) throws -> (pages: [Page], codes: [String])
    {
        let bytes = ArchiveBuilder.wacz { entries in
            entries.remove(at: 2)
            entries += lists.map { list in Entry(list.0, list.1).with { $0.isDeflated = isDeflated } }
        }
        let wacz = try ArchiveBuilder.open(bytes)
        var pages: [Page] = []
        let findings = try wacz.forEachPage { page in
            pages.append(page)
            return true
        }
        return (pages, findings.map { "\($0.code) \($0.location)" })
    }

    @Test(arguments: [false, true])
    func pagesComeBeforeExtraPages(_ isDeflated: Bool) throws {
        let found = try pages(
            [("pages/extraPages.jsonl", #"{"url":"http://b/"}"#), ("pages/pages.jsonl", #"{"url":"http://a/"}"#)],
            isDeflated: isDeflated)
        #expect(found.pages.map(\.url) == ["http://a/", "http://b/"])
        #expect(found.pages.map(\.list) == [.pages, .extraPages])
    }

    @Test func readsEveryMember() throws {
        let line =
            #"{"url":"http://a/","ts":"2024-01-02T03:04:05Z","title":"T\ud83d\ude00","id":"i","text":"a\u00fc\n","size":5,"#
            + #""mime":"text/html","status":200,"loadState":4,"depth":1,"favIconUrl":"http://a/i","seed":true,"other":[{}]}"#
        let page = try #require(try pages([("pages/pages.jsonl", line)]).pages.first)
        #expect(
            page
                == Page(
                    url: "http://a/", captureTime: CaptureTimestamp(digits: "20240102030405"), title: "T😀", id: "i",
                    textLength: 4, text: nil, size: 5, mime: "text/html", status: 200, loadState: 4, depth: 1,
                    favIconURL: "http://a/i", isSeed: true, list: .pages))
    }

    @Test func reportsInvalidLinesAndReadsTheOthers() throws {
        let text =
            "{\"format\":\"json-pages-1.0\"}\n\n{\"url\":\nx\n{\"title\":\"no url\"}\n{\"url\":\"http://a/\",\"ts\":{}}\n"
        let found = try pages([("pages/pages.jsonl", text)])
        #expect(found.pages.map(\.url) == ["http://a/"])
        #expect(found.codes == [3, 4, 5].map { "page-bad-line pages/pages.jsonl line \($0)" })
    }
}
