import Foundation
import TestSupport
import Testing

/// `kill -9` at random instants: the previous backup stays valid, and an interrupted one can continue.
struct KilledBackupTests {
    private static let rounds = 5

    private static func fill(_ store: CommandStore, round: Int) async throws {
        for number in 1...3 {
            let archive = GeneratedArchive(
                payloadSize: 2 << 20, seed: UInt64(round * 10 + number), layout: number == 2 ? .unsorted : .plain)
            try store.write(archive, to: "in-\(round)/\(round)-\(number).wacz")
        }
        #expect(try await store.run("import", "in-\(round)").code == 0)
    }

    /// Checks the files of all listed archives, and returns their hashes.
    private static func verifiedArchives(_ store: CommandStore, _ name: String) async throws -> Set<String> {
        let list = try await store.run("list", "--json", "--store", name)
        // Killed before the store existed.
        if list.code == 3 { return [] }
        #expect(list.code == 0, "\(list.errors)")
        let hashes = try objects(list.outputLines).compactMap { $0["sha256"] as? String }
        for hash in hashes {
            let found = try await sha256ByOpenSSL(store.folder.path("\(name)/files/\(hash).wacz"))
            #expect(found == hash)
        }
        return Set(hashes)
    }

    @Test func previousBackupCanBeRestoredAfterAKill() async throws {
        let store = try CommandStore()
        try await Self.fill(store, round: 0)
        let began = ContinuousClock.now
        #expect(try await store.run("backup", "copies").code == 0)
        let duration = began.duration(to: .now) / .seconds(1)
        var generator = SeededGenerator(seed: 20_261_121)
        var backedUp = try await Self.verifiedArchives(store, "store")
        for round in 1...Self.rounds {
            try await Self.fill(store, round: round)
            let all = try await Self.verifiedArchives(store, "store")
            let instant = duration * Double.random(in: 0.02...1.2, using: &generator)
            // The instant of the kill varies; the expectations hold for all.
            let result = try await store.start("backup", "copies") { $0.wait(within: instant) }
            let restored = try await store.run("restore", "copies", "--store", "again-\(round)", "--json")
            #expect(restored.code == 0, "round \(round), killed after \(instant) s: \(restored.errors)")
            let found = try await Self.verifiedArchives(store, "again-\(round)")
            #expect(found == backedUp || found == all, "round \(round), killed after \(instant) s")
            // If the output reports success, the backup is complete, even if the kill came right after.
            if result.output.contains("backed up") { #expect(found == all) }
            for name in names(in: store.folder.path("copies/files")) {
                let hash = try await sha256ByOpenSSL(store.folder.path("copies/files/\(name)"))
                #expect("\(hash).wacz" == name)
            }
            backedUp = found
        }
        #expect(try await store.run("backup", "copies", "--verify").code == 0)
        #expect(names(in: store.folder.path("copies")) == ["backup.json", "files", "incoming"])
        #expect(names(in: store.folder.path("copies/incoming")).isEmpty)
        #expect(names(in: store.folder.path("copies/files")).count == 3 * (Self.rounds + 1))
        #expect(try await store.run("restore", "copies", "--store", "again").code == 0)
        let lists = (try await store.run("list", "--json"), try await store.run("list", "--json", "--store", "again"))
        #expect(lists.0.output == lists.1.output)
    }

    @Test func killedRestoreContinues() async throws {
        let store = try CommandStore()
        for round in 0...1 { try await Self.fill(store, round: round) }
        #expect(try await store.run("backup", "copies").code == 0)
        let began = ContinuousClock.now
        #expect(try await store.run("restore", "copies", "--store", "first").code == 0)
        let duration = began.duration(to: .now) / .seconds(1)
        let all = try await Self.verifiedArchives(store, "store")
        var generator = SeededGenerator(seed: 20_261_122)
        for round in 1...Self.rounds {
            // Each round starts with an empty store, and is killed twice.
            let name = "again-\(round)"
            for _ in 1...2 {
                let instant = duration * Double.random(in: 0.02...0.9, using: &generator)
                _ = try await store.start("restore", "copies", "--store", name) { $0.wait(within: instant) }
                let found = try await Self.verifiedArchives(store, name)
                #expect(found.isSubset(of: all), "round \(round), killed after \(instant) s")
            }
            let last = try await store.run("restore", "copies", "--store", name)
            #expect(last.code == 0, "round \(round): \(last.errors)")
            let lists = (try await store.run("list", "--json"), try await store.run("list", "--json", "--store", name))
            #expect(lists.0.output == lists.1.output)
            #expect(
                names(in: store.folder.path("\(name)/files")) == names(in: store.folder.path("store/files")))
            #expect(names(in: store.folder.path("\(name)/incoming")).isEmpty)
        }
    }
}
