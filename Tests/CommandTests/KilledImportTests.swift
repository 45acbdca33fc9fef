import Foundation
import TestSupport
import Testing

/// `kill -9` at random instants of an import: afterwards the archive is complete with its indexes, or absent.
///
/// `make soak` does the same more often and with larger archives.
struct KilledImportTests {
    private static let rounds = 6

    struct Kind: Sendable, CustomTestStringConvertible {
        let layout: GeneratedArchive.Layout
        let payload: Int
        let captures: Int
        var testDescription: String { layout.rawValue }

        func archive(seed: Int) -> GeneratedArchive {
            let pages = (0..<captures).map { GeneratedArchive.Page(url: "http://example.org/\($0)") }
            return GeneratedArchive(pages: pages, payloadSize: payload, seed: UInt64(seed), layout: layout)
        }
    }

    // One takes long to copy, the others to sort, or to move one more file.
    @Test(arguments: [
        Kind(layout: .plain, payload: 12 << 20, captures: 1), Kind(layout: .unsorted, payload: 0, captures: 5000),
        Kind(layout: .missing, payload: 0, captures: 2000), Kind(layout: .zipNumDeflated, payload: 0, captures: 50),
    ])
    func storeIsConsistentAfterAKill(kind: Kind) async throws {
        let store = try CommandStore()
        // Measures how long an import of this size takes.
        try store.write(kind.archive(seed: 0), to: "0.wacz")
        let began = ContinuousClock.now
        #expect(try await store.run("import", "0.wacz").code == 0)
        let duration = began.duration(to: .now) / .seconds(1)
        var generator = SeededGenerator(seed: 20_261_121)
        var expected: Set<String> = [try await sha256ByOpenSSL(store.folder.path("0.wacz"))]
        for round in 1...Self.rounds {
            let name = "\(round).wacz"
            try store.write(kind.archive(seed: round), to: name)
            let hash = try await sha256ByOpenSSL(store.folder.path(name))
            let instant = duration * Double.random(in: 0.02...1, using: &generator)
            // The instant of the kill varies; the expectations hold for all.
            let result = try await store.start("import", name) { $0.wait(within: instant) }
            // If the output reports success, the import is complete, even if the kill came right after.
            if result.output.contains("imported") { expected.insert(hash) }
            // Before any repair, all listed archives are complete.
            let listed = try Self.hashes(try await store.run("list", "--json"))
            #expect(listed.isSuperset(of: expected), "round \(round), killed after \(instant) s")
            try await Self.check(store, listed: listed.intersection([hash]), name: "round \(round) before repair")
            // The next command that writes repairs the store.
            #expect(try await store.run("remove", "nothing", "--yes").code == 3)
            let repaired = try Self.hashes(try await store.run("list", "--json"))
            #expect(repaired.isSuperset(of: listed))
            #expect(repaired.subtracting(expected).isSubset(of: [hash]))
            try await Self.check(store, listed: repaired.intersection([hash]), name: "round \(round) after repair")
            let files = names(in: store.folder.path("store/files"))
            let endings = ["json", "wacz"] + Self.indexEndings(kind.layout)
            #expect(
                files == repaired.flatMap { hash in endings.map { "\(hash).\($0)" } }.sorted(), "no partial files")
            #expect(names(in: store.folder.path("store/incoming")).isEmpty)
            expected = repaired
            try FileManager.default.removeItem(atPath: store.folder.path(name))
        }
        try await Self.check(store, listed: expected, name: "at the end")
        // All index files are valid.
        let doctor = try await store.run("doctor", "--port", "0")
        #expect(doctor.output.contains("lookups: all archives are ready to search"))
    }

    /// docs/store.md, "Where your data is".
    private static func indexEndings(_ layout: GeneratedArchive.Layout) -> [String] {
        switch layout {
        case .plain, .zipNum: []
        case .zipNumDeflated: ["idx"]
        default: ["cdx.gz", "idx"]
        }
    }

    private static func hashes(_ list: ProgramResult) throws -> Set<String> {
        #expect(list.code == 0, "\(list.errors)")
        return Set(try objects(list.outputLines).compactMap { $0["sha256"] as? String })
    }

    /// Checks the hashes of the listed archives.
    private static func check(_ store: CommandStore, listed: Set<String>, name: String) async throws {
        for hash in listed {
            let found = try await sha256ByOpenSSL(store.folder.path("store/files/\(hash).wacz"))
            #expect(found == hash, Comment(rawValue: name))
        }
    }
}
