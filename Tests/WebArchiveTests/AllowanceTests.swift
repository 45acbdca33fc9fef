import Testing

@testable import WebArchive

/// What a step may cost is charged where it arises, whatever reads.
struct AllowanceTests {
    typealias Entry = ZIPBuilder.Entry

    private static let plain = [UInt8](repeating: 0x61, count: 100_000)

    /// A stream that decodes `plain`.
    struct Decoder: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let open: @Sendable (Allowance) throws -> any ByteStream
    }

    private static func memory(_ bytes: [UInt8]) -> SourceStream { SourceStream(MemoryByteSource(bytes, name: "x")) }

    private static let decoders = [
        Decoder(testDescription: "gzip") { GzipStream(memory(Deflater.gzip(plain)), $0) },
        Decoder(testDescription: "gzip body") { ContentDecoder(memory(Deflater.gzip(plain)), coding: .gzip, $0) },
        Decoder(testDescription: "zlib body") { ContentDecoder(memory(Deflater.zlib(plain)), coding: .deflate, $0) },
        Decoder(testDescription: "deflated ZIP entry") {
            let zip = ZIPBuilder([Entry("a", plain).with { $0.isDeflated = true }]).bytes()
            let directory = try ZIPDirectory(source: MemoryByteSource(zip, name: "x"))
            return try directory.stream(of: directory.entries[0], $0)
        },
    ]

    @Test(arguments: decoders) func decodedBytesAreCharged(_ decoder: Decoder) throws {
        let size = UInt64(Self.plain.count)
        let exact = Allowance(bytes: size)
        #expect(try decoder.open(exact).readAll(limit: size) == Self.plain)
        #expect(exact.isUsedUp)
        let short = Allowance(bytes: size - 1)
        #expect(code { _ = try decoder.open(short).readAll(limit: size) } == .tooCostly)
        #expect(short.isUsedUp)
    }

    @Test func eachLayerIsCharged() throws {
        let inner = Deflater.gzip(Self.plain)
        let bytes = Deflater.gzip(inner)
        let all = UInt64(Self.plain.count + inner.count)
        func read(_ allowance: Allowance) throws -> [UInt8] {
            try ContentDecoder.decode(Self.memory(bytes), [.gzip, .gzip], allowance).readAll(limit: all)
        }
        #expect(try read(Allowance(bytes: all)) == Self.plain)
        #expect(code { _ = try read(Allowance(bytes: all - 1)) } == .tooCostly)
    }

    /// Each record is reached by decompressing what comes before it, and is charged for that each time.
    @Test func skippedBytesAreCharged() throws {
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        let (records, ranges) = ArchiveBuilder.warc([ArchiveBuilder.Record()])
        let bytes = ArchiveBuilder.wacz {
            $0[0] = Entry("archive/data.warc.gz", zeros + records).with { $0.isDeflated = true }
        }
        let entry = CDXJEntry(
            urlKey: "k", timestamp: "2024", url: "http://a/", filename: "data.warc.gz",
            offset: UInt64(zeros.count + ranges[0].lowerBound), length: UInt64(ranges[0].count))
        let wacz = try ArchiveBuilder.open(bytes).charging(Allowance(bytes: 5 << 20))
        var count = 0
        while count < 10, code(of: { _ = try wacz.record(of: entry) }) == nil { count += 1 }
        #expect(count == 4)
        #expect(code { _ = try wacz.record(of: entry) } == .tooCostly)
        // What one step has used up is nothing to another.
        #expect(code { _ = try wacz.charging(Allowance(bytes: 5 << 20)).record(of: entry) } == nil)
    }

    /// Lookups in another order than the index decompress a block each, however small it is in the file.
    @Test func blocksOfAnIndexAreCharged() throws {
        let lines = (0..<40).map {
            IndexBuilder.line(
                "org,a)/\($0 + 10)", "2023", url: "http://a.org/\($0 + 10)",
                more: ",\"a\":\"\(String(repeating: "a", count: 10_000))\"")
        }
        let (idx, blocks) = IndexBuilder.zipNum(lines, blockLines: 20)
        var limits = Limits.standard
        limits.cachedIndexBlocksMax = 1
        let index = try ZipNumIndex(
            idx: MemoryByteSource(Array(idx.utf8), name: "a.idx"), blocks: MemoryByteSource(blocks, name: "a.cdx.gz"),
            limits: limits)
        let wacz = try IndexBuilder.open([]).using(indexes: [.zipNum(index)]).charging(Allowance(bytes: 1_050_000))
        func isFound(_ number: Int) -> Bool { (try? wacz.captures(ofURL: "http://a.org/\(number)").count) == 1 }
        // A block has 200 kB, which count half. The first one is known since the index was opened.
        let count = (0..<100).prefix { isFound($0.isMultiple(of: 2) ? 15 : 45) }.count
        #expect(count == 11)
        #expect((0..<100).allSatisfy { _ in isFound(count.isMultiple(of: 2) ? 45 : 15) }, "the last block is kept")
        #expect(try wacz.indexAccess() == .search, "nothing is wrong with the index")
    }

    @Test func openedRecordsAreCharged() throws {
        let (bytes, ranges) = ArchiveBuilder.warc([ArchiveBuilder.Record()], gzip: false)
        let reader = WARCReader(MemoryByteSource(bytes, name: "a.warc"), allowance: Allowance(bytes: 1 << 20))
        let offset = UInt64(ranges[0].lowerBound)
        var count = 0
        while count < 1000, code(of: { _ = try reader.record(at: offset) }) == nil { count += 1 }
        #expect(count == 64)
    }

    /// What was read before stays, and the rest is one finding.
    @Test func scanEndsWithWhatItHas() throws {
        let records = (0..<50).map { _ in ArchiveBuilder.Record() }
        let (bytes, _) = ArchiveBuilder.warc(records)
        let reader = WARCReader(MemoryByteSource(bytes, name: "a.warc.gz"), allowance: Allowance(bytes: 2000))
        let scanner = try reader.makeScanner()
        var count = 0
        while try scanner.next() != nil { count += 1 }
        #expect(count > 1 && count < 20)
        #expect(scanner.findings.map(\.code) == ["warc-damaged"])
        let limit = "reading the rest would exceed the limit for an archive of this size"
        #expect(scanner.findings[0].what.contains(limit))
    }

    @Test func grantsMoreToLargerFiles() {
        #expect(Allowance(archiveSize: 0).parsedBytesLeft == 32 << 20)
        #expect(Allowance(archiveSize: 1_000_000).parsedBytesLeft == 100_000_000 + 32 << 20)
        #expect(Allowance(archiveSize: .max).parsedBytesLeft == UInt64.max / 16)
    }
}
