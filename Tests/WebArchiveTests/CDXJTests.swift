import Testing

@testable import WebArchive

private func entry(_ line: String) throws(CDXJProblem) -> CDXJEntry {
    try CDXJEntry(line: Array(line.utf8), depthMax: 64)
}

private let required = #""url":"http://a/","filename":"f.warc","offset":1"#

struct CDXJEntryTests {
    @Test(arguments: [
        #""offset":"12","length":"34""#, #""offset":12,"length":34"#, #""offset": 12 , "length" : "34" "#,
    ])
    func acceptsNumbersAsStrings(_ members: String) throws {
        let entry = try entry(#"org,a)/ 20240102030405 {"url":"http://a/","filename":"f.warc",\#(members)}"#)
        #expect(entry.offset == 12)
        #expect(entry.length == 34)
        #expect(entry.range == 12..<46)
    }

    @Test func readsEveryMember() throws {
        let line =
            #"org,a)/?__wb_method=POST&x=1 20240102030405678 {"url":"http://a/\u00fc","mime":"text/html","status":"200","#
            + #""digest":"sha1:X","length":"5","offset":"0","filename":"f.warc","method":"POST","requestBody":"x=1","#
            + #""recordDigest":"sha256:y","extra":{"a":[1,{"b":null}]}}"#
        let found = try entry(line)
        #expect(
            found
                == CDXJEntry(
                    urlKey: "org,a)/?__wb_method=POST&x=1", timestamp: "20240102030405678", url: "http://a/ü",
                    mime: "text/html", status: 200, digest: "sha1:X", filename: "f.warc", offset: 0, length: 5,
                    method: "POST", requestBody: "x=1", recordDigest: "sha256:y"))
        #expect(found.captureTime?.rfc3339 == "2024-01-02T03:04:05.678Z")
    }

    @Test(arguments: ["", #","mime":"","status":"-""#, #","mime":"-","status":"""#, #","mime":null,"status":null"#])
    func missingMimeAndStatusAreNil(_ members: String) throws {
        let found = try entry("k 20240102030405 {\(required)\(members)}")
        #expect(found.mime == nil)
        #expect(found.status == nil)
        #expect(found.length == nil)
        #expect(!found.isRevisit)
    }

    @Test func hugeNumbersDoNotOverflow() throws {
        let line =
            #"k 20240102030405 {"url":"http://a/","filename":"f","offset":"18446744073709551615","length":18446744073709551615}"#
        let found = try entry(line)
        #expect(found.offset == .max)
        #expect(found.range == nil)
    }

    @Test(arguments: [
        "", "k", "k 20240102030405", "k 20240102030405 ", "k 2024x {\(required)}", "k {\(required)}", " 2024 {}",
        "k 20240102030405 {\(required)", "k 20240102030405 {\(required)} x", "k 20240102030405 []",
        "k 20240102030405 {\(required),}", "k 20240102030405 {\(required) \"a\":1}", "k 20241302030405 {\(required)}",
        "k 20240102030405 {\"url\":\"\\u12\"}",
    ])
    func invalidLineIsASyntaxProblem(_ line: String) {
        #expect { _ = try entry(line) } throws: { error in
            guard case .syntax? = error as? CDXJProblem else { return false }
            return true
        }
    }

    @Test(arguments: [
        "{}", #"{"url":"http://a/"}"#, #"{"url":"http://a/","filename":"f"}"#,
        #"{"url":"http://a/","filename":"f","offset":-1}"#, #"{"url":"http://a/","filename":"f","offset":1.5}"#,
        #"{"url":"http://a/","filename":"f","offset":18446744073709551616}"#,
        #"{"url":"http://a/","filename":"f","offset":1,"length":"x"}"#,
    ])
    func lineWithMissingMembersIsIncomplete(_ json: String) {
        #expect { _ = try entry("k 20240102030405 \(json)") } throws: { error in
            guard case .incomplete? = error as? CDXJProblem else { return false }
            return true
        }
    }

    @Test func deepNestingIsRefused() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: CDXJProblem.self) { _ = try entry("k 20240102030405 {\(required),\"x\":\(deep)}") }
    }

    @Test func reportsBytesThatAreNotUTF8() {
        var line = Array("k 20240102030405 {\"url\":\"http://a/X\",\"filename\":\"f\",\"offset\":1}".utf8)
        if let position = line.firstIndex(of: UInt8(ascii: "X")) { line[position] = 0xE9 }
        #expect(throws: CDXJProblem.encoding) { _ = try CDXJEntry(line: line, depthMax: 64) }
    }
}

struct CDXJSequentialReaderTests {
    private func read(_ text: String, limits: Limits = .standard) throws -> (lines: [Int], codes: [String]) {
        let stream = SourceStream(MemoryByteSource(Array(text.utf8), name: "x"))
        let reader = CDXJSequentialReader(stream, file: "indexes/index.cdx", limits: limits)
        var log = FindingLog(perCodeMax: limits.findingsPerCodeMax)
        var lines: [Int] = []
        while let (_, location) = try reader.next(&log) { lines.append(location.line) }
        return (lines, log.findings.map { "\($0.code) \($0.location)" })
    }

    @Test func skipsHeadersAndBlankLines() throws {
        let text = " CDX N b a m s k r M S V g\n!meta 0 {}\n\nk 20240102030405 {\(required)}\n"
        let found = try read(text)
        #expect(found.lines == [4])
        #expect(found.codes.isEmpty)
    }

    @Test func reportsInvalidLineAndReadsTheOthers() throws {
        let found = try read("a 2024 {\(required)}\nb 2024 {\nc 2024 {\(required)}\n")
        #expect(found.lines == [1, 3])
        #expect(found.codes == ["index-bad-line indexes/index.cdx line 2"])
    }

    @Test func reportsUnsortedIndexOnce() throws {
        let found = try read("b 2024 {\(required)}\na 2024 {\(required)}\nb 2024 {\(required)}\na 2024 {\(required)}\n")
        #expect(found.lines.count == 4)
        #expect(found.codes == ["index-unsorted indexes/index.cdx line 2"])
    }

    /// The replay engine loads all lines of a plain index, so their order doesn't matter.
    @Test(arguments: [("index.cdx", false), ("index.cdxj", false), ("index.cdx.gz", true)])
    func onlyUnsortedCompressedIndexesLoseCaptures(_ name: String, _ losesCaptures: Bool) throws {
        let text = "b 2024 {\(required)}\na 2024 {\(required)}\n"
        let reader = CDXJSequentialReader(
            SourceStream(MemoryByteSource(Array(text.utf8), name: "x")), file: "indexes/\(name)", limits: .standard)
        var log = FindingLog(perCodeMax: 10)
        while try reader.next(&log) != nil {}
        #expect(log.findings.map(\.code) == ["index-unsorted"])
        #expect(log.findings.first?.consequence.contains("may miss captures") == losesCaptures)
    }

    @Test func sortingIsBytewise() throws {
        // In bytes, `)` (29) sorts before `,` (2C), and `Z` before `a`.
        let found = try read("com,a)/Z 2024 {\(required)}\ncom,a)/a 2024 {\(required)}\ncom,a,b)/ 2024 {\(required)}\n")
        #expect(found.codes.isEmpty)
    }

    @Test func countsFindingsWithTheSameCode() throws {
        var limits = Limits.standard
        limits.findingsPerCodeMax = 2
        let found = try read(String(repeating: "bad\n", count: 10), limits: limits)
        #expect(found.codes.count == 3)
        #expect(found.codes.last == "index-bad-line indexes/index.cdx line 1 and others")
    }

    @Test func skipsLongLine() throws {
        var limits = Limits.standard
        limits.indexLineBytesMax = 100
        let long = "a 2024 {\"x\":\"\(String(repeating: "y", count: 200))\",\(required)}\n"
        let found = try read(long + "b 2024 {\(required)}\n", limits: limits)
        #expect(found.lines == [2])
        #expect(found.codes == ["index-line-too-long indexes/index.cdx line 1"])
    }
}

struct CaptureTimestampTests {
    // Seconds since 1970 are from `date -u -d … +%s` of GNU coreutils.
    @Test(
        arguments: [
            ("20240102030405", 1_704_164_645_000, "2024-01-02T03:04:05Z"),
            ("20240229235959", 1_709_251_199_000, "2024-02-29T23:59:59Z"),
            ("19700101000000", 0, "1970-01-01T00:00:00Z"), ("19691231235959", -1000, "1969-12-31T23:59:59Z"),
            ("20230704122555274", 1_688_473_555_274, "2023-07-04T12:25:55.274Z"),
            ("20000301000000", 951_868_800_000, "2000-03-01T00:00:00Z"),
            ("2024", 1_704_067_200_000, "2024-01-01T00:00:00Z"),
            ("202405", 1_714_521_600_000, "2024-05-01T00:00:00Z"), ("20240", 1_704_067_200_000, "2024-01-01T00:00:00Z"),
        ] as [(String, Int64, String)])
    func parsesDigits(_ digits: String, _ milliseconds: Int64, _ rfc3339: String) {
        let time = CaptureTimestamp(digits: digits)
        #expect(time?.millisecondsSince1970 == milliseconds)
        #expect(time?.rfc3339 == rfc3339)
        if digits.count == 14 { #expect(time?.digits14 == digits) }
    }

    @Test(arguments: [
        "", "202", "20241301000000", "20240230000000", "20230229000000", "20240101250000", "2024010100000a",
        "202401010000000000",
    ])
    func invalidDigitsAreNil(_ digits: String) {
        #expect(CaptureTimestamp(digits: digits) == nil)
    }

    @Test(arguments: [
        ("2024-01-02T03:04:05Z", "20240102030405000"), ("2024-01-02T03:04:05.6789Z", "20240102030405678"),
        ("2025-04-23T13:34:01.126384936+01:00", "20250423123401126"), ("2024-01-01T00:30:00-0130", "20240101020000000"),
        ("2024-01-02 03:04:05", "20240102030405000"), ("2024-01-02", "20240102000000000"),
        ("2024-01-02t03:04:05.5z", "20240102030405500"),
        // W3CDTF, in WARC 1.1 §5.4.
        // The day of the year, as in ClueWeb09.
        ("2008-10-294T05:21:46-0700", "20081020122146000"), ("2009-01-031T00:00:00Z", "20090131000000000"),
        ("2024", "20240101000000000"), ("2024-02", "20240201000000000"), ("2024-01-02T03:04Z", "20240102030400000"),
    ])
    func parsesRFC3339(_ text: String, _ digits: String) {
        let time = CaptureTimestamp(rfc3339: text)
        #expect(time != nil)
        #expect(time == CaptureTimestamp(digits: digits))
    }

    @Test(arguments: [
        "", "202", "2024-1-2", "2024-01-02T", "2024-01-02T03", "2024-01-02T03:04:05X", "2008-11-294T05:21:46Z",
        "2009-12-366T00:00:00Z", "2009-01-000T00:00:00Z", "2009-01-0311T00:00:00Z", "2024-13-02T03:04:05Z", "2024-",
    ])
    func invalidRFC3339IsNil(_ text: String) {
        #expect(CaptureTimestamp(rfc3339: text) == nil)
    }

    @Test(arguments: ["1704164645000", "1704164645", "20240102030405", "2024-01-02T03:04:05Z"])
    func parsesPageTimesInAllFormats(_ text: String) {
        #expect(CaptureTimestamp(pageTime: text)?.digits14 == "20240102030405")
    }

    @Test func closestComparesTimesNotDigits() {
        let wanted = CaptureTimestamp(digits: "20240101000000")
        // As numbers, 20231231235959 is 8,869,764,041 away and 20240201000000 only 100,000,000.
        #expect(
            wanted?.closest(in: ["20240201000000", "20231231235959"]) { CaptureTimestamp(digits: $0) }
                == "20231231235959")
    }

    @Test(arguments: [["20240101000010", "20240101000030"], ["20240101000030", "20240101000010"]])
    func tieGoesToTheLaterTime(_ candidates: [String]) {
        let wanted = CaptureTimestamp(digits: "20240101000020")
        #expect(wanted?.closest(in: candidates) { CaptureTimestamp(digits: $0) } == "20240101000030")
    }
}

struct SURTTests {
    // The key of `http://www.example.com/` is in the index of py-wacz's own test archive. The others follow the rules
    // that `candidatesIncludeSURTModuleKeys` takes from the reference, but for the trailing slash, which most writers
    // keep.
    @Test(arguments: [
        ("https://example.org/", "org,example)/"), ("http://www.example.com/", "com,example)/"),
        ("http://archive.org/goo?a=2&b&a=1", "org,archive)/goo?a=1&a=2&b"), ("http://archive.org:80/", "org,archive)/"),
        ("http://archive.org:8080/goo", "org,archive:8080)/goo"),
        ("https://www2.Example.org:443/A?B=C#d", "org,example)/a?b=c"),
        ("http://example.org", "org,example)/"), ("http://example.org?", "org,example)/"),
        ("http://127.0.0.1/x", "1,0,0,127)/x"),
        ("http://user:pw@example.org/x", "org,example)/x"), ("http://[::1]:8080/", "[::1]:8080)/"),
        ("urn:text:http://x/", "urn:text:http://x/"), ("file:///screenshot.png", "file:///screenshot.png"), ("", ""),
    ])
    func keyMatchesMostIndexers(_ url: String, _ key: String) {
        #expect(SURT.key(for: url) == key)
    }

    // From the tests of the Internet Archive's `surt` module, which drops trailing slashes.
    @Test(arguments: [
        ("http://www.archive.org/", "org,archive)/"), ("http://archive.org/goo/", "org,archive)/goo"),
        ("http://archive.org/goo/?", "org,archive)/goo"), ("http://archive.org/goo/?b&a", "org,archive)/goo?a&b"),
        ("http://archive.org/goo/?a=2&b&a=1", "org,archive)/goo?a=1&a=2&b"),
    ])
    func candidatesIncludeSURTModuleKeys(_ url: String, _ key: String) {
        #expect(SURT.candidates(for: url).contains(key))
    }

    @Test func candidatesIncludeOtherSpellings() {
        #expect(
            SURT.candidates(for: "http://www.a.org/x/")
                == ["org,a)/x/", "org,a,www)/x/", "org,a)/x", "org,a,www)/x"])
    }

    @Test(arguments: [
        ("http://a.org/", "https://a.org/", true), ("http://A.org", "http://a.org/", true),
        ("http://a.org/#x", "http://a.org/", true),
        ("http://a.org:80/", "http://a.org/", true), ("https://a.org:443/x", "http://a.org/x", true),
        ("http://a.org/X", "http://a.org/x", false), ("http://a.org/?a", "http://a.org/", false),
        ("http://www.a.org/", "http://a.org/", false), ("http://a.org:8080/", "http://a.org/", false),
        ("urn:a", "urn:a", true), ("urn:a", "urn:b", false),
    ])
    func matchesOnlyEquivalentURLs(_ left: String, _ right: String, _ expected: Bool) {
        #expect(SURT.matches(left, right) == expected)
        #expect(SURT.matches(right, left) == expected)
    }
}
