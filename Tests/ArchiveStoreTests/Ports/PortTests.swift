import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Ports in `ports.json` and in sidecars.
struct PortTests {
    private struct Library {
        let folder: TemporaryFolder
        let store: ArchiveStore
        let ids: [ArchiveID]

        init(count: Int) throws {
            let folder = try TemporaryFolder()
            let store = try ArchiveStore(at: folder.path("store"))
            (self.folder, self.store) = (folder, store)
            ids = try (0..<count).map { number in
                let bytes = GeneratedArchive(title: "Number \(number)").bytes()
                return try store.importFile(at: folder.write(bytes, to: "number-\(number).wacz")).archive.id
            }
        }

        func replayable(_ position: Int) throws -> Replayable {
            try #require(try store.resolver.replayable(id: ids[position]))
        }
    }

    @Test func portIsSavedInSidecarAndSurvivesRebuild() throws {
        let library = try Library(count: 1)
        let port = try #require(try library.store.ports.choices(for: library.replayable(0)).others.first)
        #expect(Ports.range.contains(port))
        try library.store.ports.assign(port, to: library.ids[0])
        #expect(try library.store.ports.choices(for: library.replayable(0)).assigned == port)
        let archive = try #require(try library.store.catalog.archive(id: library.ids[0]))
        let sidecar = try Data(contentsOf: URL(fileURLWithPath: library.store.layout.sidecar(archive.key)))
        let object = try #require(try JSONSerialization.jsonObject(with: sidecar) as? [String: Any])
        #expect(object["port"] as? Int == port)
    }

    /// The same file gets the same choices in every store; others get different ones.
    @Test func portChoicesDependOnArchive() throws {
        let (one, other) = (try Library(count: 2), try Library(count: 2))
        let first = try one.store.ports.choices(for: one.replayable(0)).others
        let again = try other.store.ports.choices(for: other.replayable(0)).others
        let second = try one.store.ports.choices(for: one.replayable(1)).others
        #expect(first == again)
        #expect(first.first != second.first)
        #expect(Set(first).count == 50)
    }

    /// Browser data is stored by port and must stay with its archive.
    @Test func portIsNeverReassigned() throws {
        let library = try Library(count: 2)
        let (mine, next) = (
            try library.store.ports.choices(for: library.replayable(1)).others[0],
            try library.store.ports.choices(for: library.replayable(1)).others[1]
        )
        // The other archive has the port that this one would get, then gets another one, then is removed.
        try library.store.ports.assign(mine, to: library.ids[0])
        #expect(try library.store.ports.choices(for: library.replayable(1)).others[0] == next)
        try library.store.ports.assign(next, to: library.ids[0])
        #expect(
            try !library.store.ports.choices(for: library.replayable(1)).others.contains { [mine, next].contains($0) })
        try library.store.remove(library.ids[0])
        let left = try library.store.ports.choices(for: library.replayable(1))
        #expect(!left.others.contains { [mine, next].contains($0) })
        #expect(left.assigned == nil)
    }

    /// Two archives with the same port, for example after merging backups: neither may keep it.
    @Test func sharedPortIsNotUsed() throws {
        let library = try Library(count: 2)
        try library.store.ports.assign(20_000, to: library.ids[0])
        var second = try #require(try library.store.catalog.archive(id: library.ids[1]))
        second.port = 20_000
        try library.store.committer.save(second)
        #expect(try library.store.ports.choices(for: library.replayable(0)).assigned == nil)
        #expect(try library.store.ports.choices(for: library.replayable(1)).assigned == nil)
        try library.store.ports.assign(20_001, to: library.ids[0])
        #expect(try library.replayable(1).port == nil)
        #expect(try !library.store.ports.choices(for: library.replayable(1)).others.contains(20_000))
    }

    /// A sidecar changed by hand, with ports of other programs or ports that browsers block.
    @Test(arguments: [-1, 0, 22, 80, 6667, 8080, 16_383, 32_768, 70_000])
    func portOutsideRangeIsNotUsed(port: Int) throws {
        let library = try Library(count: 1)
        var archive = try #require(try library.store.catalog.archive(id: library.ids[0]))
        archive.port = port
        try library.store.committer.save(archive)
        #expect(try library.store.ports.choices(for: library.replayable(0)).assigned == nil)
    }

    /// The library's ports aren't assigned to archives either.
    @Test func libraryPortIsNotAssignedToArchives() throws {
        let library = try Library(count: 1)
        let first = try library.store.ports.choices(for: library.replayable(0)).others[0]
        try library.store.ports.reserveForLibrary(first)
        try library.store.ports.reserveForLibrary(first)
        let next = try library.store.ports.choices(for: library.replayable(0)).others[0]
        #expect(next != first)
        try library.store.ports.assign(next, to: library.ids[0])
        let error = #expect(throws: StoreError.self) { try library.store.ports.reserveForLibrary(next) }
        #expect(error?.code == .taken)
    }

    @Test func collectionsHavePorts() throws {
        let library = try Library(count: 1)
        let collection = try library.store.collections.make(title: "Both", members: library.ids)
        let replayable = try #require(try library.store.resolver.replayable(id: collection.id))
        let port = try library.store.ports.choices(for: replayable).others[0]
        try library.store.ports.assign(port, to: collection.id)
        #expect(try library.store.collections.collection(id: collection.id)?.port == port)
        #expect(try library.store.ports.choices(for: library.replayable(0)).assigned == nil)
    }

    @Test(arguments: ["", "{}", "[1]", "{\"format\": 2, \"given\": [], \"open\": []}"])
    func damagedPortListIsReported(text: String) throws {
        let library = try Library(count: 1)
        try library.folder.write(text, to: "store/ports.json")
        let error = #expect(throws: StoreError.self) { try library.store.ports.choices(for: library.replayable(0)) }
        #expect(error?.code == .documentDamaged)
        #expect(error?.hint?.contains("delete it") == true)
    }

    @Test func removedArchiveGetsNoPort() throws {
        let library = try Library(count: 1)
        try library.store.remove(library.ids[0])
        let error = #expect(throws: StoreError.self) { try library.store.ports.assign(20_000, to: library.ids[0]) }
        #expect(error?.code == .notFound)
    }
}
