import Testing

@testable import WebArchive

/// Indexes as other programs write them.
@Suite struct IndexesOfOthersTests {
    private static func url(_ number: Int) -> String {
        "http://example.org/p\(String(repeating: "0", count: 4 - "\(number)".count))\(number)"
    }

    /// Writes an archive as Browsertrix Crawler 1.3 to 1.13 does: `mergeCDXJ` of its `src/util/wacz.ts`.
    private static func browsertrix(_ count: Int) throws -> [UInt8] {
        let (warc, ranges) = ArchiveBuilder.warc(
            (0..<count).map { number in ArchiveBuilder.Record(url: url(number)) }, gzip: false)
        var (idx, blocks) = ("!meta 0 {\"format\":\"cdxj-gzip-1.0\",\"filename\":\"index.cdx.gz\"}\n", [UInt8]())
        var (key, lineCount, block) = ("", 0, "")
        func finishBlock() {
            let member = Deflater.gzip(Array(block.utf8))
            idx += "\(key) {\"offset\":\(blocks.count),\"length\":\(member.count),\"filename\":\"index.cdx.gz\"}\n"
            blocks += member
            (key, lineCount, block) = ("", 1, "")
        }
        for number in 0..<count {
            let line = ArchiveBuilder.cdxjLine(
                url(number), key: SURT.key(for: url(number)), ranges[number], filename: "data.warc")
            if key.isEmpty { key = line.split(separator: " ").prefix(2).joined(separator: " ") }
            lineCount += 1
            if lineCount == 256 { finishBlock() }
            block += line
        }
        if !key.isEmpty { finishBlock() }
        return ArchiveBuilder.wacz { entries in
            entries[0] = .init("archive/data.warc", warc)
            entries[1] = .init("indexes/index.cdx.gz", blocks)
            entries.append(.init("indexes/index.idx", idx))
        }
    }

    @Test(arguments: [
        (255, []), (256, ["index-last-line-missing"]), (257, ["idx-wrong-key"]), (510, ["idx-wrong-key"]),
        (511, ["idx-wrong-key", "index-last-line-missing"]), (600, ["idx-wrong-key"]),
    ])
    func everyCaptureIsFoundThoughBlocksHaveOtherNames(_ count: Int, _ codes: [String]) throws {
        let wacz = try ArchiveBuilder.open(Self.browsertrix(count))
        let inspection = try wacz.inspect()
        #expect(inspection.captureCount == count)
        let found = inspection.findings.map(\.code).filter { $0.hasPrefix("idx-") || $0.hasPrefix("index-") }
        #expect(Set(found) == Set(codes))
        #expect(inspection.isSearchable == codes.isEmpty)

        let copy = try withFolder { folder in
            #expect(try ZipNumWriter.write(from: wacz, to: folder, stem: "copy") == count)
            return try ZipNumIndex(
                idx: FileByteSource(path: "\(folder)/copy.idx"), blocks: FileByteSource(path: "\(folder)/copy.cdx.gz"))
        }
        for lookups in [wacz, try wacz.using(indexes: [.zipNum(copy)])] {
            for number in Set([0, 253, 254, 255, 256, 509, 510, count - 1]) where number < count {
                let url = Self.url(number)
                #expect(try lookups.captures(ofURL: url).map(\.url) == [url])
            }
        }
    }

    /// A record that the index doesn't list for another reason isn't added.
    @Test func onlyTheCaptureAfterTheLastLineIsAdded() throws {
        let lines = (0..<255).map {
            IndexBuilder.line("org,example)/z\(1000 + $0)", "20240102030405", url: "http://example.org/z")
        }
        let (idx, blocks) = IndexBuilder.zipNum(lines, blockLines: 255)
        let bytes = ArchiveBuilder.wacz { entries in
            entries[1] = .init("indexes/index.cdx.gz", blocks)
            entries.append(.init("indexes/index.idx", idx))
        }
        let inspection = try ArchiveBuilder.open(bytes).inspect()
        #expect(inspection.captureCount == 255)
    }

    /// The keys of one URL, by: Python's surt; jwarc and webarchive-commons before 1.2 (iipc/webarchive-commons pull request
    /// 102); tools that decode UTF-8 with replacement characters.
    @Test(arguments: [
        ("http://example.org/m%FCller", ["m%fcller", "m%25fcller", "m%ef%bf%bdller"]),
        (
            "http://example.org/a?q=%E4%EE%20%C3%BC",
            ["a?q=%e4%ee%20%c3%bc", "a?q=%25e4%25ee%20%c3%bc", "a?q=%ef%bf%bd%ef%bf%bd%20%c3%bc"]
        ),
        ("http://example.org/x?q=%E9", ["x?q=%e9", "x?q=%25e9", "x?q=%EF%BF%BD"]),
        ("http://example.org/%C3%A4%E4", ["%c3%a4%e4", "%c3%a4%25e4", "%c3%a4%ef%bf%bd"]),
        // A character that is cut, then two bytes of none: decoders replace the first three by one character.
        ("http://example.org/%F0%9F%98%FF", ["%f0%9f%98%ff", "%25f0%259f%2598%25ff", "%ef%bf%bd%ef%bf%bd"]),
    ])
    func urlsThatAreNotUTF8AreFoundUnderEachKey(_ url: String, _ keys: [String]) throws {
        let other = url.replacing("%E", with: "%D").replacing("%F", with: "%D")
        for key in keys {
            let index = [url, other].map {
                IndexBuilder.line("org,example)/\(key)", "20240102030405", url: $0) + "\n"
            }.joined()
            let wacz = try IndexBuilder.open([.init("indexes/index.cdx", index)])
            // Python's key is enough for the URL.
            let isOfBoth = key == keys[0]
            for asked in [url, url.lowercased()] {
                let found = try wacz.captures(ofURL: asked).map(\.url)
                #expect(found == (isOfBoth ? [url, other] : [url]), "\(asked) under \(key)")
            }
        }
    }
}
