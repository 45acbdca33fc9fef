import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Histograms of the captures of a URL.
struct CaptureCountsTests {
    typealias Record = RecordedArchive.Record

    private let folder: TemporaryFolder
    private let store: ArchiveStore

    init() throws {
        folder = try TemporaryFolder()
        store = try ArchiveStore(at: folder.path("store"))
    }

    private func add(_ timestamps: [String], as name: String) throws -> Archive {
        let records = timestamps.map { Record("http://a.example/", "body", timestamp: $0) }
        let other = Record("http://a.example/other", "body", timestamp: "20240503000000")
        let bytes = RecordedArchive(records + [other]).bytes()
        return try store.importFile(at: try folder.write(bytes, to: "\(name).wacz")).archive
    }

    private func counts(_ period: CaptureHistogram.Period, _ replayable: Replayable) throws -> [String] {
        let found = try store.resolver.captureCounts(of: "https://a.example", by: period, in: replayable)
        #expect(found.total == found.counts.map(\.captures).reduce(0, +))
        let list = try store.resolver.captures(
            CaptureList.Request(url: "http://a.example/", limit: 1), in: replayable)
        #expect(found.total == list.total)
        return found.counts.map { "\($0.period) \($0.captures)" }
    }

    @Test func capturesAreCountedByPeriod() throws {
        let one = try add(
            ["20231231235959", "20240101000000", "20240503000000", "20240503235959", "20240531120000"], as: "one")
        #expect(
            try counts(.day, .archive(one)) == ["2023-12-31 1", "2024-01-01 1", "2024-05-03 2", "2024-05-31 1"])
        #expect(try counts(.month, .archive(one)) == ["2023-12 1", "2024-01 1", "2024-05 3"])
        #expect(try counts(.year, .archive(one)) == ["2023 1", "2024 4"])
        let two = try add(["20240503000000", "19691231235959", "19700101000000"], as: "two")
        let made = try store.collections.make(
            id: nil, title: "Both", members: [one.id, two.id], metadata: ArchiveMetadata())
        let both = Replayable.collection(made, [one, two])
        #expect(
            try counts(.day, both) == [
                "1969-12-31 1", "1970-01-01 1", "2023-12-31 1", "2024-01-01 1", "2024-05-03 3", "2024-05-31 1",
            ])
        let none = try store.resolver.captureCounts(of: "http://b.example/", by: .day, in: both)
        #expect(none.total == 0)
        #expect(none.counts.isEmpty)
    }
}
