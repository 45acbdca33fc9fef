import Foundation
import TestSupport
import Testing

/// Backups from and to failing disks.
@Suite(.enabled(if: FailingDisk.isPossible, "no C compiler is installed"))
struct FailingBackupDiskTests {
    struct Failure: Sendable, CustomTestStringConvertible {
        let call: String
        var suffix: String?
        var part: String?
        /// The error code in JSON.
        let code: String
        var testDescription: String { "\(call) of \(part ?? "")*\(suffix ?? ""): \(code)" }
    }

    @Test(arguments: [
        Failure(call: "write", part: "/copies/incoming/", code: "no-space"),
        Failure(call: "write", part: "/copies/incoming/", code: "failed"),
        Failure(call: "fsync", part: "/copies/incoming/", code: "failed"),
        Failure(call: "rename", suffix: ".wacz", part: "/copies/", code: "failed"),
        Failure(call: "write", suffix: "backup.json.new", code: "no-space"),
        Failure(call: "fsync", suffix: "backup.json.new", code: "failed"),
        Failure(call: "rename", suffix: "backup.json", code: "failed"),
    ])
    func previousBackupStaysValid(_ failure: Failure) async throws {
        let store = try CommandStore()
        let disk = try await FailingDisk(in: store.folder)
        try store.write(GeneratedArchive(seed: 1), to: "a.wacz")
        try store.write(GeneratedArchive(payloadSize: 100_000, seed: 2), to: "b.wacz")
        #expect(try await store.run("import", "a.wacz").code == 0)
        #expect(try await store.run("backup", "copies").code == 0)
        let before = try contents(of: store.folder.path("copies/backup.json"))
        #expect(try await store.run("import", "b.wacz").code == 0)
        let result = try await store.run(
            ["backup", "copies", "--json"],
            environment: disk.environment(
                call: failure.call, suffix: failure.suffix, part: failure.part,
                error: failure.code == "no-space" ? ENOSPC : EIO))
        #expect(result.code == 1)
        #expect(try errorCodes(result) == [failure.code])
        #expect(!result.errors.contains("--store"), "hints about stores don't apply to backups")
        #expect(result.output.isEmpty)
        #expect(try contents(of: store.folder.path("copies/backup.json")) == before)
        #expect(names(in: store.folder.path("copies")) == ["backup.json", "files", "incoming"])
        #expect(names(in: store.folder.path("copies/incoming")).isEmpty)
        #expect(try await store.run("restore", "copies", "--store", "again").code == 0)
        #expect(try await store.run("backup", "copies").code == 0)
        #expect(names(in: store.folder.path("copies/files")).count == 2)
    }

    @Test func freeSpaceIsCheckedBeforeCopying() async throws {
        let store = try CommandStore()
        let disk = try await FailingDisk(in: store.folder)
        try store.write(GeneratedArchive(payloadSize: 100_000), to: "a.wacz")
        #expect(try await store.run("import", "a.wacz").code == 0)
        for (command, target) in [("backup copies", "copies"), ("restore copies --store again", "again")] {
            let arguments = command.split(separator: " ").map(String.init)
            let full = disk.environment(call: "space", part: "/\(target)", error: ENOSPC)
            let result = try await store.run(arguments + ["--json"], environment: full)
            #expect(result.code == 1)
            #expect(try errorCodes(result) == ["no-space"])
            #expect(
                result.errors.contains(
                    /not enough space for the \w+: \S+ kB and a reserve of 34 MB needed, \S+ \w+ free/))
            #expect(names(in: store.folder.path("\(target)/files")).isEmpty)
            #expect(try await store.run(arguments).code == 0)
        }
        // A full disk doesn't matter if there is nothing to copy.
        let full = disk.environment(call: "space", part: "/copies", error: ENOSPC)
        #expect(try await store.run(["backup", "copies"], environment: full).code == 0)
    }

    /// If the store's disk can't read one file, all others are still backed up.
    @Test func unreadableFileIsSkipped() async throws {
        let store = try CommandStore()
        let disk = try await FailingDisk(in: store.folder)
        for number in 1...3 { try store.write(GeneratedArchive(seed: UInt64(number)), to: "in/\(number).wacz") }
        #expect(try await store.run("import", "in").code == 0)
        let hash = try await sha256ByOpenSSL(store.folder.path("in/2.wacz"))
        let failing = disk.environment(call: "read", suffix: "store/files/\(hash).wacz", error: EIO)
        let result = try await store.run(["backup", "copies", "--json"], environment: failing)
        #expect(result.code == 4)
        #expect(try errorCodes(result) == ["archive-damaged"])
        #expect(result.errors.contains("store/files/\(hash).wacz"))
        #expect(try objects(result.outputLines).first?["leftOut"] as? [String] == ["2"])
        #expect(names(in: store.folder.path("copies/files")).count == 2)
        // A file that can't be read in the backup is copied again.
        #expect(try await store.run("backup", "copies").code == 0)
        let other = disk.environment(call: "read", suffix: "copies/files/\(hash).wacz", error: EIO)
        let verified = try await store.run(["backup", "copies", "--verify", "--json"], environment: other)
        #expect(verified.code == 0, "\(verified.errors)")
        let report = try #require(try objects(verified.outputLines).first)
        #expect((report["copied"] as? [String: Any])?["count"] as? Int == 1)
        #expect((report["verified"] as? [String: Any])?["count"] as? Int == 2)
    }
}
