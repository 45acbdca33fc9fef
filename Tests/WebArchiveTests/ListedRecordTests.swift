import Testing

@testable import WebArchive

/// Only the record that an index line lists is opened for it. CDXJ 0.1.0: a line has the URL and the time of its record.
struct ListedRecordTests {
    /// A line and the record that it names.
    @Test(arguments: [
        ("http://example.org/two", "20240102030405", true),
        ("https://www.example.org/two#part", "20240102030405", true),
        ("http://example.org/two?__wb_method=POST&a=b", "20240102030405", true),
        ("http://example.org/two/more?__wb_method=POST&a=b", "20240102030405", false),
        ("http://bank.example/", "20240102030405", false), ("http://example.org/two", "20240102030406", false),
    ])
    func recordOfAnotherURLOrTimeIsNotOpened(url: String, time: String, isSame: Bool) throws {
        let bytes = ArchiveBuilder.wacz { entries in
            let index = String(decoding: entries[1].content, as: UTF8.self)
                .replacing("\"http://example.org/two\"", with: "\"\(url)\"")
            entries[1].content = Array(index.replacing("20240102030405", with: time).utf8)
        }
        let wacz = try ArchiveBuilder.open(bytes)
        var last: CDXJEntry?
        try wacz.forEachIndexEntry { entry, _ in
            last = entry
            return true
        }
        let entry = try #require(last)
        #expect(code { _ = try wacz.content(of: entry, CancellationCheck()) } == (isSame ? nil : .badIndex))
    }
}
