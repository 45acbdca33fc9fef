import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// `ports.json` and what sidecars keep of ports.
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

    @Test func aPortIsKeptInTheSidecarAndSurvivesARebuild() throws {
        let library = try Library(count: 1)
        let port = try #require(try library.store.ports.choices(for: library.replayable(0)).others.first)
        #expect(Ports.range.contains(port))
        try library.store.ports.keep(port, for: library.ids[0])
        #expect(try library.store.ports.choices(for: library.replayable(0)).own == port)
        let archive = try #require(try library.store.catalog.archive(id: library.ids[0]))
        let sidecar = try Data(contentsOf: URL(fileURLWithPath: library.store.layout.sidecar(archive.key)))
        let object = try #require(try JSONSerialization.jsonObject(with: sidecar) as? [String: Any])
        #expect(object["port"] as? Int == port)
    }

    /// The same file is tried on the same ports everywhere; others elsewhere.
    @Test func thePortsToTryGoWithTheArchive() throws {
        let (one, other) = (try Library(count: 2), try Library(count: 2))
        let first = try one.store.ports.choices(for: one.replayable(0)).others
        let again = try other.store.ports.choices(for: other.replayable(0)).others
        let second = try one.store.ports.choices(for: one.replayable(1)).others
        #expect(first == again)
        #expect(first.first != second.first)
        #expect(Set(first).count == 50)
    }

    /// What a browser has stored by port stays with the archive that stored it.
    @Test func aPortThatSomethingHadIsNeverGivenToAnother() throws {
        let library = try Library(count: 2)
        let (mine, next) = (
            try library.store.ports.choices(for: library.replayable(1)).others[0],
            try library.store.ports.choices(for: library.replayable(1)).others[1]
        )
        // The other archive has the port that this one would get, then another, then it is removed.
        try library.store.ports.keep(mine, for: library.ids[0])
        #expect(try library.store.ports.choices(for: library.replayable(1)).others[0] == next)
        try library.store.ports.keep(next, for: library.ids[0])
        #expect(
            try !library.store.ports.choices(for: library.replayable(1)).others.contains { [mine, next].contains($0) })
        try library.store.remove(library.ids[0])
        let left = try library.store.ports.choices(for: library.replayable(1))
        #expect(!left.others.contains { [mine, next].contains($0) })
        #expect(left.own == nil)
    }

    /// Two archives that say they have one port, as after merging backups: neither may keep it.
    @Test func aPortOfTwoIsNobodys() throws {
        let library = try Library(count: 2)
        try library.store.ports.keep(20_000, for: library.ids[0])
        var second = try #require(try library.store.catalog.archive(id: library.ids[1]))
        second.port = 20_000
        try library.store.committer.save(second)
        #expect(try library.store.ports.choices(for: library.replayable(0)).own == nil)
        #expect(try library.store.ports.choices(for: library.replayable(1)).own == nil)
        try library.store.ports.keep(20_001, for: library.ids[0])
        #expect(try library.replayable(1).port == nil)
        #expect(try !library.store.ports.choices(for: library.replayable(1)).others.contains(20_000))
    }

    /// A sidecar that was changed by hand: ports of other programs, or that browsers refuse.
    @Test(arguments: [-1, 0, 22, 80, 6667, 8080, 16_383, 32_768, 70_000])
    func aPortThatIsNoneOfThoseOfArchivesIsNotUsed(port: Int) throws {
        let library = try Library(count: 1)
        var archive = try #require(try library.store.catalog.archive(id: library.ids[0]))
        archive.port = port
        try library.store.committer.save(archive)
        #expect(try library.store.ports.choices(for: library.replayable(0)).own == nil)
    }

    /// Nor is a port that the library was on given to an archive.
    @Test func theLibraryKeepsItsPortsFromArchives() throws {
        let library = try Library(count: 1)
        let first = try library.store.ports.choices(for: library.replayable(0)).others[0]
        try library.store.ports.keepLibrary(first)
        try library.store.ports.keepLibrary(first)
        let next = try library.store.ports.choices(for: library.replayable(0)).others[0]
        #expect(next != first)
        try library.store.ports.keep(next, for: library.ids[0])
        let error = #expect(throws: StoreError.self) { try library.store.ports.keepLibrary(next) }
        #expect(error?.code == .taken)
    }

    @Test func collectionsHavePortsToo() throws {
        let library = try Library(count: 1)
        let collection = try library.store.collections.make(title: "Both", members: library.ids)
        let replayable = try #require(try library.store.resolver.replayable(id: collection.id))
        let port = try library.store.ports.choices(for: replayable).others[0]
        try library.store.ports.keep(port, for: collection.id)
        #expect(try library.store.collections.collection(id: collection.id)?.port == port)
        #expect(try library.store.ports.choices(for: library.replayable(0)).own == nil)
    }

    @Test(arguments: ["", "{}", "[1]", "{\"format\": 2, \"given\": [], \"open\": []}"])
    func aDamagedListIsSaid(text: String) throws {
        let library = try Library(count: 1)
        try library.folder.write(text, to: "store/ports.json")
        let error = #expect(throws: StoreError.self) { try library.store.ports.choices(for: library.replayable(0)) }
        #expect(error?.code == .documentDamaged)
        #expect(error?.hint?.contains("delete it") == true)
    }

    @Test func whatIsGoneGetsNoPort() throws {
        let library = try Library(count: 1)
        try library.store.remove(library.ids[0])
        let error = #expect(throws: StoreError.self) { try library.store.ports.keep(20_000, for: library.ids[0]) }
        #expect(error?.code == .notFound)
    }
}
