import Testing
import WebArchive

private func directory(_ bytes: [UInt8], limits: Limits = .standard) throws(WebArchiveError) -> ZIPDirectory {
    try ZIPDirectory(source: MemoryByteSource(bytes, name: "a.zip"), limits: limits)
}

private func text(_ directory: ZIPDirectory, _ name: String) throws -> String {
    let entry = try #require(directory.entry(named: name))
    return String(decoding: try directory.contents(of: entry, limit: 1000), as: UTF8.self)
}

/// An entry with one change, and the error that opening it should throw.
struct ZIPCase: Sendable, CustomTestStringConvertible {
    static let plain = ZIPBuilder.Entry("archive/a.warc", "one")
    static let other = ZIPBuilder.Entry("notes.txt", "two")

    let testDescription: String
    let expected: WebArchiveError.Code?
    let entry: ZIPBuilder.Entry

    init(
        _ description: String, _ expected: WebArchiveError.Code? = nil, _ change: (inout ZIPBuilder.Entry) -> Void
    ) {
        testDescription = description
        self.expected = expected
        entry = Self.plain.with(change)
    }
}

struct ZIPDirectoryTests {
    private let plain = ZIPCase.plain
    private let other = ZIPCase.other

    @Test(arguments: [
        ZIPCase("stored") { _ in }, ZIPCase("deflated") { $0.isDeflated = true },
        ZIPCase("zip64") { $0.usesZip64 = true },
        ZIPCase("descriptor") { $0.hasDataDescriptor = true },
        ZIPCase("local extra") { $0.localExtra = [0x55, 0x58, 4, 0, 1, 2, 3, 4] },
    ])
    func findsEntryThroughItsLocalHeader(_ c: ZIPCase) throws {
        let zip = try directory(ZIPBuilder([other, c.entry, other.with { $0.name = [0x7A] }]).bytes())
        #expect(try text(zip, "archive/a.warc") == "one")
        #expect(zip.findings.isEmpty)
    }

    @Test func dataStartsAfterTheLocalExtraField() throws {
        let zip = try directory(ZIPBuilder([plain.with { $0.localExtra = [9, 9, 1, 0, 7] }]).bytes())
        // 30 bytes of local header, 14 of name, 5 of extra field.
        #expect(try zip.dataRange(of: zip.entries[0]) == 49..<52)
    }

    @Test func readsZip64EndRecord() throws {
        var builder = ZIPBuilder([plain, other])
        builder.endRecordIsZip64 = true
        #expect(try text(directory(builder.bytes()), "notes.txt") == "two")
    }

    @Test(arguments: [true, false])
    func acceptsPrefix(_ offsetsCountPrefix: Bool) throws {
        var builder = ZIPBuilder([plain, other])
        builder.prefix = Array("#!/bin/sh\n".utf8)
        builder.offsetsCountPrefix = offsetsCountPrefix
        let zip = try directory(builder.bytes())
        #expect(try text(zip, "archive/a.warc") == "one")
        #expect(zip.findings.map(\.code) == (offsetsCountPrefix ? [] : ["zip-prefix-bytes"]))
    }

    @Test func commentIsNotTrailingJunk() throws {
        var builder = ZIPBuilder([plain])
        builder.comment = Array("hello".utf8)
        #expect(try directory(builder.bytes()).findings.isEmpty)
        builder.trailing = [0, 0, 0]
        let findings = try directory(builder.bytes()).findings
        #expect(findings.map(\.code) == ["zip-trailing-bytes"])
        #expect(findings.first?.what.hasPrefix("3 bytes") == true)
    }

    @Test func readsDeflatedEntryDespiteTrailingJunk() throws {
        var builder = ZIPBuilder([plain.with { $0.isDeflated = true }])
        builder.trailing = [UInt8](repeating: 0, count: 200_000)
        #expect(try text(directory(builder.bytes()), "archive/a.warc") == "one")
    }

    @Test(arguments: [
        ZIPCase("encrypted", .encrypted) { $0.flags = 1 },
        ZIPCase("strongly encrypted", .encrypted) { $0.flags = 0x41 },
        ZIPCase("NUL", .unsafeName) { $0.name = [0x61, 0, 0x62] },
        ZIPCase("other local name", .corruptZIP) { $0.localName = Array("archive/b.warc".utf8) },
        ZIPCase("offset past the end", .corruptZIP) { $0.declaredOffset = 0x7FFF_FFFF },
        ZIPCase("offset into the neighbour", .corruptZIP) { $0.declaredOffset = 3 },
        ZIPCase("size past the end", .corruptZIP) { $0.declaredSize = 100_000 },
        ZIPCase("size over the neighbour", .corruptZIP) { $0.declaredSize = 60 },
    ])
    func hostileEntryIsRefused(_ c: ZIPCase) {
        let bytes = ZIPBuilder([c.entry, other]).bytes()
        #expect(code { _ = try directory(bytes) } == c.expected)
    }

    @Test func duplicateNamesOfNeededEntriesAreRefused() throws {
        #expect(code { _ = try directory(ZIPBuilder([plain, plain]).bytes()) } == .duplicateName)
        let zip = try directory(ZIPBuilder([plain, other, other]).bytes())
        #expect(zip.findings.map(\.code) == ["zip-duplicate-name"])
    }

    @Test(arguments: ["../x", "a/../../x", "/x", "a\\x", "C:/x", "a\nb", ".."])
    func unsafeNamesAreNeverFound(_ name: String) throws {
        let zip = try directory(ZIPBuilder([plain, .init(name, "x")]).bytes())
        #expect(zip.entry(named: name) == nil)
        #expect(zip.entries.last?.isUnsafe == true)
        #expect(zip.findings.map(\.code) == ["zip-unsafe-name"])
        #expect(zip.findings.allSatisfy { !$0.location.contains("\n") })
    }

    @Test(arguments: ["..x/y", "a..b", "...", "a/..b"])
    func dotsInsideNamesAreHarmless(_ name: String) throws {
        #expect(try directory(ZIPBuilder([.init(name, "x")]).bytes()).entry(named: name) != nil)
    }

    @Test func symbolicLinksAreNeverFound() throws {
        let link = ZIPBuilder.Entry("archive/l.warc", "/etc/passwd").with { $0.externalAttributes = 0o120777 << 16 }
        let zip = try directory(ZIPBuilder([plain, link]).bytes())
        #expect(zip.entries[1].isSymlink)
        #expect(zip.entry(named: "archive/l.warc") == nil)
    }

    @Test func directoryLimitsApply() {
        var limits = Limits.standard
        limits.entriesMax = 1
        #expect(code { _ = try directory(ZIPBuilder([plain, other]).bytes(), limits: limits) } == .tooLarge)
        limits = .standard
        limits.centralDirectoryBytesMax = 50
        #expect(code { _ = try directory(ZIPBuilder([plain, other]).bytes(), limits: limits) } == .tooLarge)
    }

    @Test func tooManyEntriesAreRefusedBeforeReadingTheDirectory() {
        var builder = ZIPBuilder([plain, other])
        builder.endRecordIsZip64 = true
        var bytes = builder.bytes()
        // The counts of the zip64 end record, APPNOTE §4.3.14: 98 bytes of end records, 24 before the counts.
        let place = bytes.count - 98 + 24
        bytes.replaceSubrange(place..<place + 16, with: le64(990_000) + le64(990_000))
        let error = #expect(throws: WebArchiveError.self) { _ = try directory(bytes) }
        #expect(error?.code == .tooLarge)
        #expect(error?.problem == "the ZIP contains 990000 files, and the limit is 100000")
    }

    @Test(arguments: ["a", "ä", "a name that is longer than a small string"])
    func keepsStoredNames(_ name: String) throws {
        let zip = try directory(ZIPBuilder([.init(name, "x")]).bytes())
        #expect(zip.entries[0].rawName == Array(name.utf8))
        let latin1 = ZIPBuilder.Entry("x", "y").with { $0.name = [0xE4] }
        #expect(try directory(ZIPBuilder([latin1]).bytes()).entries[0].rawName == [0xE4])
    }

    @Test func wrongEntryCountIsRefused() {
        var builder = ZIPBuilder([plain, other])
        builder.declaredCount = 3
        #expect(code { _ = try directory(builder.bytes()) } == .corruptZIP)
    }

    @Test func detectsWrongChecksumOfADeflatedEntry() throws {
        let zip = try directory(
            ZIPBuilder([
                plain.with {
                    $0.isDeflated = true
                    $0.declaredCRC = 1
                }
            ]).bytes())
        #expect(code { _ = try zip.contents(of: zip.entries[0], limit: 100) } == .corruptZIP)
    }

    @Test func deflatedEntryLargerThanDeclaredIsRefused() throws {
        let big = ZIPBuilder.Entry("archive/a.warc", [UInt8](repeating: 0x61, count: 5000))
        let zip = try directory(
            ZIPBuilder([
                big.with {
                    $0.isDeflated = true
                    $0.declaredSize = 10
                }
            ]).bytes())
        #expect(code { _ = try zip.contents(of: zip.entries[0], limit: 100_000) } == .corruptZIP)
    }

    @Test func contentsChecksTheDeclaredSizeFirst() throws {
        let zip = try directory(ZIPBuilder([plain]).bytes())
        #expect(code { _ = try zip.contents(of: zip.entries[0], limit: 2) } == .tooLarge)
    }

    private static func littleEndian(_ value: Int, size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// A record that one reader skips, and another one uses with a directory of its own: in the comment of the true one, with
    /// each field wrong. What isn't refused may be an attack.
    @Test(arguments: [
        [0, 0, 4, 4, 200, 10, 7], [1, 0, 4, 4, 200, 10, 0], [0, 1, 4, 4, 200, 10, 0], [0, 0, 3, 4, 200, 10, 0],
        [0, 0, 3, 3, 200, 10, 0], [0, 0, 4, 4, 0x00FF_FFFF, 10, 0], [0, 0, 4, 4, 200, 0x00FF_FFFF, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [9, 9, 9, 9, 9, 9, 9],
    ])
    func secondEndRecordMayBeAnAttack(fields: [Int]) throws {
        let sizes = [2, 2, 2, 2, 4, 4, 2]
        let signature: [UInt8] = [0x50, 0x4B, 5, 6]
        let rival = zip(fields, sizes).reduce(into: signature) { $0 += Self.littleEndian($1.0, size: $1.1) }
        var builder = ZIPBuilder(ArchiveBuilder.entries())
        for change in [{ (builder: inout ZIPBuilder) in builder.comment = rival }, { $0.trailing = rival }] {
            builder = ZIPBuilder(ArchiveBuilder.entries())
            change(&builder)
            do throws(WebArchiveError) {
                let wacz = try ArchiveBuilder.open(builder.bytes())
                #expect(wacz.openFindings.contains { $0.code == "zip-readers-disagree" })
                #expect(try wacz.simplifiedDirectory() != nil, "the engine gets the directory that was read")
            } catch {
                #expect([.corruptZIP, .noArchiveData, .unsupported].contains(error.code))
            }
        }
    }

    /// Other readers go back to a record whose comment ends with the file.
    @Test func earlierEndRecordBehindTheComment() throws {
        let honest = ZIPBuilder(ArchiveBuilder.entries()).bytes()
        let end = honest.count - 22
        var rival = Array(honest[end...])
        // The comment is what follows: the true record and two bytes.
        rival[20] = 24
        let bytes = honest[..<end] + rival + honest[end...] + [0, 0]
        let zip = try directory(Array(bytes))
        #expect(zip.findings.map(\.code).contains("zip-readers-disagree"))
    }

    /// Readers that allow bytes before a ZIP, such as Python's zipfile, look for the directory right before the end record.
    @Test func secondDirectoryRightBeforeTheEndRecord() throws {
        let honest = ZIPBuilder(ArchiveBuilder.entries()).bytes()
        let end = honest.count - 22
        // The offset of the directory. APPNOTE §4.3.16.
        let start = honest[(end + 16)..<(end + 20)].reversed().reduce(0) { $0 << 8 | Int($1) }
        let zip = try directory(Array(honest[..<end] + honest[start..<end] + honest[end...]))
        #expect(zip.findings.map(\.code).contains("zip-readers-disagree"))
    }

    @Test func zip64RecordThatIsNotNeededAgreesWithTheOther() throws {
        var builder = ZIPBuilder([plain, other])
        builder.endRecordIsZip64 = true
        #expect(try directory(builder.bytes()).findings.isEmpty)
        let honest = ZIPBuilder([plain, other]).bytes()
        let end = honest.count - 22
        // One entry, a directory of 46 bytes at offset 0. APPNOTE §4.3.14 and §4.3.15.
        let record: [(Int, Int)] = [
            (0x0606_4B50, 4), (44, 8), (45, 2), (45, 2), (0, 4), (0, 4), (1, 8), (1, 8), (46, 8), (0, 8),
        ]
        let locator = [(0x0706_4B50, 4), (0, 4), (end, 8), (1, 4)]
        let wide = (record + locator).reduce(into: [UInt8]()) { $0 += Self.littleEndian($1.0, size: $1.1) }
        let bytes = Array(honest[..<end]) + wide + honest[end...]
        #expect(try directory(bytes).findings.map(\.code).contains("zip-readers-disagree"))
    }

    @Test(.enabled(if: Libraries.haveLibzip)) func libzipAgreesAboutValidZIPs() throws {
        for change in [{ (_: inout [ZIPBuilder.Entry]) in }, { $0[0].isDeflated = true }, { $0[1].usesZip64 = true }] {
            let inspection = try ArchiveBuilder.open(ArchiveBuilder.wacz(change)).inspect()
            #expect(!inspection.findings.contains { $0.code == "zip-readers-disagree" })
        }
    }

    @Test(.enabled(if: Libraries.haveLibzip)) func libzipRefusalIsAFinding() throws {
        var builder = ZIPBuilder(ArchiveBuilder.entries())
        builder.trailing = [UInt8](repeating: 0, count: 200_000)
        let findings = try ArchiveBuilder.open(builder.bytes()).inspect().findings
        #expect(findings.contains { $0.code == "zip-readers-disagree" })
    }
}
