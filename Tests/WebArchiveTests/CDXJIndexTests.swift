import Testing

@testable import WebArchive

private func key(_ number: Int) -> String { "org,example)/\(String(number + 10_000_000).dropFirst())" }

private func source(_ text: String) -> MemoryByteSource { MemoryByteSource(Array(text.utf8), name: "index.cdx") }

/// Returns the keys of the first lines from `target` on.
private func keys(_ index: CDXJIndex, from target: String, count: Int = 3) throws(WebArchiveError) -> [String] {
    let cursor = try index.cursor(from: Array(target.utf8), nil)
    var keys: [String] = []
    while keys.count < count, let line = try cursor.peek() {
        keys.append(String(decoding: line.urlKey, as: UTF8.self))
        cursor.advance()
    }
    return keys
}

struct CDXJIndexTests {
    /// Compares a search with a linear one.
    @Test(arguments: [1, 2, 10, 300, 1000])
    func searchFindsFirstLineNotBelowTarget(_ count: Int) throws {
        let lines = (0..<count).map {
            "\(key($0 / 3 * 2)) 2023010100000\($0 % 3) {\"x\":\"\(String(repeating: "y", count: $0 % 90))\"}"
        }
        let (idx, blocks) = IndexBuilder.zipNum(lines, blockLines: 4)
        let plain = CDXJIndex.sorted(try SortedCDXJIndex(source(lines.joined(separator: "\n"))))
        let zipNum = CDXJIndex.zipNum(
            try ZipNumIndex(idx: source(idx), blocks: MemoryByteSource(blocks, name: "index.cdx.gz")))
        var targets = ["", "org", "zzz", "org,example)/", key(count)]
        for number in 0..<min(count, 200) {
            targets += [key(number), "\(key(number)) ", "\(key(number)) 20230101000001"]
        }
        for target in targets {
            let place = lines.firstIndex { !$0.utf8.lexicographicallyPrecedes(target.utf8) } ?? lines.count
            let expected = lines[place...].prefix(3).map { String($0.prefix { $0 != " " }) }
            #expect(try keys(plain, from: target) == expected, "\(target)")
            #expect(try keys(zipNum, from: target) == expected, "\(target)")
        }
    }

    @Test func findsLinesLongerThanTheWindow() throws {
        let pad = String(repeating: "p", count: 30_000)
        let lines = (0..<200).map {
            "\(key($0))\($0.isMultiple(of: 3) ? "?\(pad)" : "") 2023 {\"x\":\"\($0.isMultiple(of: 5) ? pad : "")\"}"
        }
        let index = CDXJIndex.sorted(try SortedCDXJIndex(source(lines.joined(separator: "\n"))))
        for number in 0..<200 {
            #expect(try keys(index, from: key(number), count: 1).first?.hasPrefix(key(number)) == true)
        }
        #expect(try keys(index, from: key(200)) == [])
    }

    @Test func skipsLinesThatAreTooLong() throws {
        var limits = Limits.standard
        limits.indexLineBytesMax = 1000
        let lines = (0..<100).map {
            "\(key($0)) 2023 {\"x\":\"\($0.isMultiple(of: 10) ? String(repeating: "y", count: 9000) : "")\"}"
        }
        let index = CDXJIndex.sorted(try SortedCDXJIndex(source(lines.joined(separator: "\n")), limits: limits))
        #expect(try keys(index, from: key(50), count: 1) == [key(51)])
        #expect(try keys(index, from: key(0), count: 1) == [key(1)])
    }

    @Test func textWithoutLinesIsRefused() {
        var limits = Limits.standard
        limits.skippedLineBytesMax = 1 << 20
        let text = MemoryByteSource([UInt8](repeating: 0x61, count: 4 << 20), name: "x")
        let found = code { _ = try SortedCDXJIndex(text, limits: limits) }
        #expect(found == .tooLarge)
        for empty in ["", "!meta 0 {}\n\n\n"] {
            let refused = code { _ = try SortedCDXJIndex(source(empty)) }
            #expect(refused == .badIndex)
        }
    }

    @Test func lookupsNeedFewReads() throws {
        let count = 1_000_000
        let counter = CountingByteSource(GeneratedLines(count: count))
        let wacz = try IndexBuilder.open([]).using(indexes: [.sorted(SortedCDXJIndex(counter))])
        var generator = SeededGenerator(state: 5)
        _ = counter.take()
        let random = (0..<50).map { _ in Int.random(in: 0..<count, using: &generator) }
        for number in [0, 1, count / 2, count - 1, count + 5] + random {
            let found = try wacz.captures(ofURL: GeneratedLines.url(number))
            #expect(found.count == (number < count ? 1 : 0))
            let (reads, bytes) = counter.take()
            #expect(reads <= 32 && bytes <= 32 * 8192, "\(reads) reads of \(bytes) bytes")
        }
        let query = CaptureQuery(url: "example.org", matchType: .domain)
        let cursor = wacz.captures(matching: query)
        for _ in 0..<100 { _ = try cursor.next() }
        #expect(counter.take().reads <= 32)
    }
}

struct ZipNumIndexTests {
    private static let lines = (0..<100).map { "\(key($0 / 10)) 202301010000\($0 + 10) {\"n\":\($0)}" }

    private func open(
        _ idx: String, _ blocks: [UInt8], limits: Limits = .standard
    ) throws(WebArchiveError) -> ZipNumIndex {
        try ZipNumIndex(idx: source(idx), blocks: MemoryByteSource(blocks, name: "index.cdx.gz"), limits: limits)
    }

    @Test func findsAllLinesOfAKeyThatBeginsInThePreviousBlock() throws {
        let (idx, blocks) = IndexBuilder.zipNum(Self.lines, blockLines: 3)
        let index = CDXJIndex.zipNum(try open(idx, blocks))
        for number in 0..<10 {
            let found = try keys(index, from: "\(key(number)) ", count: 10)
            #expect(found == [String](repeating: key(number), count: 10))
        }
    }

    // cdxj-indexer 1.5.0 writes the SHA-256 of each block.
    @Test func wrongBlockDigestIsAnError() throws {
        let (idx, blocks) = IndexBuilder.zipNum(Self.lines, blockLines: 50) { _ in
            "sha256:\(String(repeating: "0", count: 64))"
        }
        let index = CDXJIndex.zipNum(try open(idx, blocks))
        let error = #expect(throws: WebArchiveError.self) { _ = try keys(index, from: key(3)) }
        #expect(error?.code == .badIndex)
        #expect(error?.problem.contains("digest") == true)
    }

    @Test func wrongBlockDigestMakesLookupsScan() throws {
        let lines = (0..<20).map { IndexBuilder.line("org,a)/\($0 + 10)", "2023", url: "http://a.org/\($0 + 10)") }
        let (idx, blocks) = IndexBuilder.zipNum(lines, blockLines: 5) { _ in
            "sha256:\(String(repeating: "1", count: 64))"
        }
        let wacz = try IndexBuilder.open([.init("indexes/index.cdx.gz", blocks), .init("indexes/index.idx", idx)])
        #expect(try wacz.captures(ofURL: "http://a.org/13").count == 1)
        guard case .sequential(let reason) = try wacz.indexAccess() else {
            Issue.record("the index must be scanned")
            return
        }
        #expect(reason.description == "indexes/: the block doesn't match its digest in the .idx file")
        let inspection = try wacz.inspect()
        #expect(inspection.searchableIndexes.map { $0.reason?.code } == [.blockDigest])
        #expect(inspection.sequentialReason?.code == .blockDigest)
        let findings = inspection.findings.filter { $0.code == "index-block-digest" }
        #expect(findings.map(\.severity) == [.warning])
        #expect(findings.map(\.location) == ["indexes/index.cdx.gz"])
    }

    /// The first and last block reveal truncated and mismatched files without reading the blocks between them.
    @Test func endsRevealATruncatedOrMismatchedIndex() throws {
        let (idx, blocks) = IndexBuilder.zipNum(Self.lines, blockLines: 3)
        let (tabbed, tabbedBlocks) = IndexBuilder.zipNum(Self.lines, blockLines: 4, usesTabs: true)
        try open(idx, blocks).checkEnds()
        try open(tabbed, tabbedBlocks).checkEnds()
        try open(String(idx.dropLast()), blocks).checkEnds()
        // Before the number of the block, which isn't read.
        let cut = String(tabbed[..<(tabbed.lastIndex(of: "\t") ?? tabbed.endIndex)].dropLast())
        for (name, idx, blocks) in [
            ("first line gone", idx.split(separator: "\n").dropFirst(2).joined(separator: "\n"), blocks),
            ("last line gone", idx.split(separator: "\n").dropLast().joined(separator: "\n"), blocks),
            ("last line cut", String(idx.dropLast(3)), blocks),
            ("last length cut", cut, tabbedBlocks),
            ("blocks cut", idx, Array(blocks.dropLast())), ("blocks longer", idx, blocks + [0]),
            ("of another", tabbed, blocks), ("of another, too", idx, tabbedBlocks),
        ] {
            let found = code { try open(idx, blocks).checkEnds() }
            #expect(found == .badIndex, Comment(rawValue: name))
        }
    }

    @Test func findsLastLineOfAnyLength() throws {
        let pad = String(repeating: "p", count: 30_000)
        for tail in ["", "\n", "\n\n", "\r\n", "\n!meta 0 {}\n"] {
            for last in ["b 2 {}", "b 2 {\"x\":\"\(pad)\"}"] {
                for first in ["", "a 1 {}\n", String(repeating: "a 1 {\"x\":\"\(pad)\"}\n", count: 3)] {
                    let lines = try SortedLines(source(first + last + tail), limits: .standard)
                    let found = try #require(try lines.last())
                    #expect(String(decoding: found.bytes, as: UTF8.self) == last)
                    #expect(found.offset == UInt64(first.utf8.count))
                }
            }
        }
    }

    @Test func plainCopyReplacesACompressedIDX() throws {
        let lines = (0..<50).map { IndexBuilder.line(key($0), "2023", url: "http://example.org/\($0)") }
        let (idx, blocks) = IndexBuilder.zipNum(lines, blockLines: 4)
        let entries = [
            ZIPBuilder.Entry("indexes/index.cdx.gz", blocks),
            ZIPBuilder.Entry("indexes/index.idx", idx).with { $0.isDeflated = true },
        ]
        let wacz = try IndexBuilder.open(entries)
        #expect(wacz.compressedIDX?.name == "indexes/index.idx")
        let counting = CountingByteSource(source(idx))
        let searched = try wacz.using(plainIDX: counting)
        #expect(try searched.indexAccess() == .search)
        _ = counting.take()
        _ = try searched.closestCapture(toURL: "http://example.org/7", at: nil)
        #expect(counting.take().reads > 0)
        try searched.checkLookups()
        for other in [String(idx.dropLast()), idx + "\n", ""] {
            #expect(code { _ = try wacz.using(plainIDX: source(other)) } == .badIndex)
        }
        let stored = try IndexBuilder.open([entries[0], .init("indexes/index.idx", idx)])
        #expect(stored.compressedIDX == nil)
        #expect(code { _ = try stored.using(plainIDX: source(idx)) } == .badIndex)
    }

    @Test func lookupsWithoutIndexesFindNothing() throws {
        let wacz = try IndexBuilder.open([]).using(indexes: [])
        #expect(try wacz.indexAccess() == .search)
        #expect(try wacz.captures(ofURL: "http://example.org/two").isEmpty)
        #expect(try wacz.closestCapture(toURL: "http://example.org/two", at: nil) == nil)
        try wacz.checkLookups()
    }

    @Test func blockBombIsRefusedWithoutInflatingIt() throws {
        var limits = Limits.standard
        limits.indexBlockBytesMax = 1 << 20
        let bomb = Deflater.gzip([UInt8](repeating: 0x61, count: 64 << 20))
        let idx = "a 2023 {\"offset\": 0, \"length\": \(bomb.count)}\n"
        let index = CDXJIndex.zipNum(try open(idx, bomb, limits: limits))
        let error = #expect(throws: WebArchiveError.self) { _ = try keys(index, from: "a") }
        #expect(error?.problem.contains("more than 1048576 bytes") == true)
    }

    @Test(arguments: [
        "a 2023 {\"offset\": 0, \"length\": 99999999}", "a 2023 {\"offset\": 18446744073709551615, \"length\": 5}",
        "a 2023 {\"offset\": 0, \"length\": 0}", "a 2023 {\"offset\": 3, \"length\": 20}", "a 2023 {}", "a 2023",
        "\u{0}\u{1}",
        "a 2023\tother\t0\tx", "a 2023 {\"offset\": -1, \"length\": 5}",
    ])
    func invalidIDXLineIsAnError(_ idx: String) throws {
        let (_, blocks) = IndexBuilder.zipNum(Self.lines, blockLines: 50)
        let index = try open(idx + "\n", blocks)
        let found = code { _ = try keys(.zipNum(index), from: "b") }
        #expect(found == .badIndex || found == .badGzip)
        let checked = code { try index.checkBlocks() }
        #expect(checked != nil)
    }

    @Test func idxWithMissingBlocksIsNotSearched() throws {
        let lines = (0..<40).map { IndexBuilder.line("org,a)/\($0 + 10)", "2023", url: "http://a.org/\($0 + 10)") }
        let (idx, blocks) = IndexBuilder.zipNum(lines, blockLines: 5)
        for dropped in 1...8 {
            let rows = idx.split(separator: "\n")
            let kept = rows.indices.filter { $0 != dropped }.map { rows[$0] }.joined(separator: "\n")
            let wacz = try IndexBuilder.open([.init("indexes/index.cdx.gz", blocks), .init("indexes/index.idx", kept)])
            for number in 10..<50 { #expect(try wacz.captures(ofURL: "http://a.org/\(number)").count == 1) }
            #expect(try wacz.inspect().isSearchable == false)
        }
    }

    @Test func cacheIsBoundedInCountAndBytes() throws {
        var limits = Limits.standard
        limits.cachedIndexBlocksMax = 4
        limits.cachedIndexBlockBytesMax = 1000
        var cache = ZipNumBlockCache(limits: limits)
        let place = try #require(ZipNumLine(Array("a 2023 {\"offset\":0,\"length\":1}".utf8)))
        func block(_ bytes: Int) throws -> ZipNumBlock {
            let line = "a 2023 {\(String(repeating: "x", count: bytes - 8))"
            return try ZipNumBlock(Array(line.utf8), place: place, file: "x", limits: limits)
        }
        func key(_ number: UInt64) -> ZipNumBlockCache.Key { .init(file: 0, offset: number, length: 1) }
        for number in 0..<10 { cache.add(try block(100), key(UInt64(number))) }
        #expect(cache.count == 4)
        #expect(cache.block(key(6)) != nil)
        cache.add(try block(100), key(20))
        #expect(cache.block(key(6)) != nil && cache.block(key(7)) == nil)
        cache.add(try block(990), key(21))
        #expect(cache.count == 1 && cache.byteCount == 990)
        cache.add(try block(5000), key(22))
        #expect(cache.count == 1 && cache.byteCount == 5000)
    }

    @Test func digestsAreCheckedOnceButNotKnownWithoutBound() throws {
        let limits = Limits.standard
        var cache = ZipNumBlockCache(limits: limits)
        let line = Array("a 2023 {\"offset\":0,\"length\":1}".utf8)
        let block = try ZipNumBlock(line, place: try #require(ZipNumLine(line)), file: "x", limits: limits)
        func key(_ number: Int) -> ZipNumBlockCache.Key { .init(file: 0, offset: UInt64(number), length: 1) }
        for number in 0..<70_000 { cache.add(block, key(number)) }
        // The first block isn't kept any more.
        #expect(cache.block(key(0)) == nil && cache.isChecked(key(0)))
        #expect(cache.block(key(69_999)) != nil && !cache.isChecked(key(69_999)))
        #expect(cache.count == limits.cachedIndexBlocksMax && cache.checkedByteCount < 4 << 20)
    }
}

/// `FuzzReaderTests` (`cdxj` and `zipnum`) tests the memory use of damaged indexes.
struct CDXJDamageTests {
    private static let lines = (0..<8).map {
        IndexBuilder.line("org,a)/\($0 / 2 + 10)", "202301010000\($0 + 10)", url: "http://a.org/\($0 / 2 + 10)")
    }

    /// Checks that a search finds everything that a scan finds, or throws.
    private func check(_ entries: [ZIPBuilder.Entry], _ urls: [String], inspects: Bool) {
        var limits = Limits.standard
        limits.indexBlockBytesMax = 1 << 20
        guard let wacz = try? IndexBuilder.open(entries, limits: limits) else { return }
        for url in urls {
            let matcher = CaptureMatcher(url: url)
            let scanned = Result {
                var found: [CDXJEntry] = []
                try wacz.forEachIndexEntry { entry, _ in
                    if matcher.accepts(entry) { found.append(entry) }
                    return true
                }
                return found
            }
            let searched = Result { try wacz.captures(ofURL: url) }
            guard case .success(let expected) = scanned, case .success(let found) = searched else { continue }
            // A changed byte may leave a valid line whose key no longer matches its URL.
            let isMoved = expected.contains { !SURT.candidates(for: $0.url).contains($0.urlKey) }
            #expect(found.starts(with: expected) || Set(found).isSuperset(of: expected) || isMoved)
        }
        if inspects { _ = code(of: { _ = try wacz.inspect() }) }
    }

    @Test func truncationsAndBitFlipsNeverCrash() {
        let (idx, blocks) = IndexBuilder.zipNum(Self.lines, blockLines: 3)
        let plain = Array(Self.lines.joined(separator: "\n").utf8)
        var generator = SeededGenerator(state: 7)
        func flipped(_ bytes: [UInt8], _ position: Int) -> [UInt8] {
            var copy = bytes
            copy[position] ^= UInt8.random(in: 1...255, using: &generator)
            return copy
        }
        func checkEach(_ bytes: [UInt8], _ entries: ([UInt8]) -> [ZIPBuilder.Entry]) {
            for position in bytes.indices {
                let urls = ["http://a.org/\(10 + position % 4)"]
                let inspects = position.isMultiple(of: 9)
                check(entries(Array(bytes[..<position])), urls, inspects: inspects)
                check(entries(flipped(bytes, position)), urls, inspects: inspects)
            }
        }
        checkEach(Array(idx.utf8)) { [.init("indexes/index.cdx.gz", blocks), .init("indexes/index.idx", $0)] }
        checkEach(blocks) { [.init("indexes/index.cdx.gz", $0), .init("indexes/index.idx", idx)] }
        checkEach(plain) { [.init("indexes/index.cdx", $0)] }
    }
}
