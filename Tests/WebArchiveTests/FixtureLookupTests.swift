import Foundation
import Testing
import WebArchive

/// Looks up every capture of every published archive by its URL.
@Suite(.enabled(if: fixtures != nil, "REPLAYHOST_FIXTURES is not set"))
struct FixtureLookupTests {
    static let files: [String] = {
        let enumerator = fixtures.flatMap { FileManager.default.enumerator(atPath: $0) }
        return (enumerator?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".wacz") }.sorted()
    }()

    @Test func fixturesArePresent() {
        #expect(Self.files.count > 70)
    }

    @Test(arguments: FixtureLookupTests.files)
    func findsEveryIndexLineByItsURL(_ file: String) throws {
        // Other tests cover archives that can't be opened.
        guard let wacz = try? WACZFile.open(path: "\(fixtures ?? "")/\(file)") else { return }
        var entries: [CDXJEntry] = []
        do {
            try wacz.forEachIndexEntry { entry, _ in
                entries.append(entry)
                return true
            }
        } catch {
            return
        }
        // If each lookup is a scan, a sample is enough.
        let isSearch = try wacz.indexAccess() == .search
        for entry in isSearch ? entries[...] : entries.prefix(20) {
            #expect(try wacz.captures(ofURL: entry.url).contains(entry), "\(entry.url)")
            guard (entry.method ?? "GET") == "GET" else { continue }
            let time = entry.captureTime
            #expect(try wacz.closestCapture(toURL: entry.url, at: time)?.timestamp == entry.timestamp, "\(entry.url)")
        }
    }
}
