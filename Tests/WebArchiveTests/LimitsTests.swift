import Testing

@testable import WebArchive

private typealias Entry = ZIPBuilder.Entry

/// A small archive with one large part, and the error of reading it.
struct LimitCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: WebArchiveError.Code?
    let change: @Sendable (inout [ZIPBuilder.Entry]) -> Void

    init(
        _ description: String, _ expected: WebArchiveError.Code?,
        _ change: @escaping @Sendable (inout [ZIPBuilder.Entry]) -> Void
    ) {
        testDescription = description
        self.expected = expected
        self.change = change
    }

    static func deflated(_ name: String, _ content: String) -> ZIPBuilder.Entry {
        ZIPBuilder.Entry(name, content).with { $0.isDeflated = true }
    }

    static func resources(_ count: Int) -> String {
        "{\"resources\":[\((0..<count).map { "{\"path\":\"\($0)\"}" }.joined(separator: ","))]}"
    }
}

struct LimitsTests {
    private static let page = "{\"url\":\"a\"}\n"
    private static let line = ArchiveBuilder.cdxjLine("http://example.org/", key: "org,example)/", 0..<10)

    @Test(arguments: [
        LimitCase("resources", nil) { $0[3] = Entry("datapackage.json", LimitCase.resources(20)) },
        LimitCase("too many resources", .tooLarge) { $0[3] = Entry("datapackage.json", LimitCase.resources(21)) },
        LimitCase("too many required packages", .tooLarge) {
            let requires = [String](repeating: "{}", count: 21).joined(separator: ",")
            $0[3] = Entry("datapackage.json", "{\"relation\":{\"requires\":[\(requires)]}}")
        },
        LimitCase("compressed description", nil) {
            $0[3] = LimitCase.deflated("datapackage.json", "{}" + String(repeating: " ", count: (4 << 20) - 2))
        },
        LimitCase("description that is large for its compressed size", .tooLarge) {
            $0[3] = LimitCase.deflated("datapackage.json", "{}" + String(repeating: " ", count: 4 << 20))
        },
        LimitCase("stored description", nil) {
            $0[3] = Entry("datapackage.json", "{}" + String(repeating: " ", count: 4 << 20))
        },
        LimitCase("large digest", .tooLarge) {
            $0.append(Entry("datapackage-digest.json", String(repeating: " ", count: 1001) + "{}"))
        },
        LimitCase("pages", nil) { $0[2] = LimitCase.deflated("pages/pages.jsonl", String(repeating: page, count: 50)) },
        LimitCase("too many pages for their size", .tooLarge) {
            $0[2] = LimitCase.deflated("pages/pages.jsonl", String(repeating: page, count: 51))
        },
        LimitCase("stored pages", nil) { $0[2] = Entry("pages/pages.jsonl", String(repeating: page, count: 500)) },
        LimitCase("too many lines for their size", .tooLarge) {
            $0[1] = LimitCase.deflated("indexes/index.cdx", String(repeating: line, count: 800))
        },
        LimitCase("too many lines in gzip", .tooLarge) {
            let lines = Array(String(repeating: line, count: 800).utf8)
            $0[1] = Entry("indexes/index.cdx.gz", Deflater.gzip(lines))
        },
        LimitCase("too many records for their size", .tooLarge) {
            $0[0] = Entry("archive/data.warc", (0..<800).flatMap { _ in ArchiveBuilder.Record().bytes() }).with {
                $0.isDeflated = true
            }
            $0.remove(at: 1)
        },
        LimitCase("legacy pages", nil) {
            $0.removeLast(2)
            $0.append(LimitCase.deflated("webarchive.yaml", "pages:\n" + String(repeating: "- url: a\n", count: 49)))
        },
        LimitCase("too many legacy pages", .tooLarge) {
            $0.removeLast(2)
            $0.append(LimitCase.deflated("webarchive.yaml", "pages:\n" + String(repeating: "- url: a\n", count: 90)))
        },
    ])
    func limitsSizes(_ c: LimitCase) {
        var limits = Limits.standard
        limits.resourcesMax = 20
        limits.digestBytesMax = 1000
        limits.linesAlwaysAllowed = 50
        let strict = limits
        let found = code { _ = try ArchiveBuilder.open(ArchiveBuilder.wacz(c.change), limits: strict).inspect() }
        #expect(found == c.expected)
    }

    // Characters of one to four bytes, and an escape, at the limit.
    @Test(arguments: ["aaaaaaaaaa", "aaaaaaaaé", "aaaaaaa€€", "aaaaaaa😀", "aaaaaaa\\u20ac\\n"])
    func cutsLongTextsBetweenCharacters(_ text: String) throws {
        var limits = Limits.standard
        (limits.textBytesMax, limits.titleBytesMax) = (8, 8)
        let json = "{\"title\":\"\(text)\",\"software\":[\"\(text)\",\"b\"],\"wacz_version\":\"1.1.1\"}"
        let package = try DataPackage.parse(Array(json.utf8), file: "x", limits: limits)
        let kept = text.hasPrefix("aaaaaaaa") ? "aaaaaaaa" : "aaaaaaa"
        #expect(package.title == kept)
        #expect(package.software?.hasPrefix(kept) == true)
        #expect(package.waczVersion == "1.1.1")
        let page = try Page(line: Array("{\"title\":\"\(text)\",\"url\":\"u\"}".utf8), list: .pages, limits: limits)
        #expect(page?.title == kept)
        #expect(page?.url == "u")
    }

    @Test func unknownDescriptionMembersAreDropped() throws {
        let json = #"{"home":{"url":"http://a/","more":{"url":1},"ts":{"ts":{}}},"title":{"url":"x"},"x":[[{}]]}"#
        let package = try DataPackage.parse(Array(json.utf8), file: "x", limits: .standard)
        #expect(package.mainPage == .init(url: "http://a/", date: nil))
        #expect(package.title == nil)
    }

    @Test func cutsLongLocationsOfFindings() throws {
        let path = String(repeating: "a", count: 100_000)
        let bytes = ArchiveBuilder.wacz {
            $0[3] = Entry("datapackage.json", "{\"resources\":[{\"path\":\"\(path)\"}]}")
        }
        let findings = try ArchiveBuilder.open(bytes).inspect().findings
        #expect(findings.contains { $0.code == "resource-missing" })
        #expect(findings.allSatisfy { $0.location.utf8.count < 2000 })
    }

    @Test func blockWithTooManyLinesIsNotSearched() throws {
        var limits = Limits.standard
        limits.indexBlockLinesMax = 3
        let place = try #require(ZipNumLine(Array("a 2024 {\"offset\":0,\"length\":9}".utf8)))
        let text = Array("a 2024 {}\nb 2024 {}\nc 2024 {}\n".utf8)
        #expect(try ZipNumBlock(text, place: place, file: "x", limits: limits).lineCount == 3)
        let longer = text + Array("d 2024 {}\n".utf8)
        #expect(code { _ = try ZipNumBlock(longer, place: place, file: "x", limits: limits) } == .badIndex)
    }
}
