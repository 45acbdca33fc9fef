import TestSupport
import Testing

@testable import WebArchive

/// Captures next to a URL in the order of the index. Expected values come from the sorted list of page numbers.
struct CaptureNeighborsTests {
    private static let count = 400

    private func archive(_ layout: GeneratedArchive.Layout) throws -> WACZFile {
        // The generator numbers the keys: `org,example)/17`.
        let pages = (0..<Self.count).map { GeneratedArchive.Page(url: "http://example.org/\($0)") }
        return try WACZFile.open(
            MemoryByteSource(GeneratedArchive(pages: pages, layout: layout).bytes(), name: "a.wacz"))
    }

    private func neighbors(_ path: String, _ file: WACZFile, limit: Int = 3) throws -> Set<String> {
        Set(
            try file.captures(nextTo: "http://example.org/\(path)", limit: limit, CancellationCheck()).map(\.url))
    }

    @Test(arguments: GeneratedArchive.Layout.allCases)
    func areTheNearestKeys(layout: GeneratedArchive.Layout) throws {
        let file = try archive(layout)
        let sorted = (0..<Self.count).map(String.init).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for path in ["17", "17x", "2/3", "", "0", "399", "99", "zoo", "!"] {
            let before = sorted.filter { $0.utf8.lexicographicallyPrecedes(path.utf8) }.suffix(3)
            let after = sorted.filter { path.utf8.lexicographicallyPrecedes($0.utf8) }.prefix(3)
            let expected = Set((before + after).map { "http://example.org/\($0)" })
            #expect(try neighbors(path, file) == expected, "\(layout) \(path)")
        }
    }

    @Test func otherSitesAndSchemesHaveNone() throws {
        let file = try archive(.plain)
        for url in ["http://example.com/1", "http://sub.example.org/1", "http://example.org:81/1", "urn:x", "", "org,"]
        {
            #expect(
                try file.captures(nextTo: url, limit: 3, CancellationCheck()).isEmpty,
                Comment(rawValue: url))
        }
    }
}
