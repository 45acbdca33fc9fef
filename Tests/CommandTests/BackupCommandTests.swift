import Foundation
import TestSupport
import Testing

/// The output and exit codes of `backup` and `restore`.
struct BackupCommandTests {
    /// A store with two archives.
    private func filled(payloadSize: Int = 0) async throws -> CommandStore {
        let store = try CommandStore()
        try store.write(GeneratedArchive(title: "One", payloadSize: payloadSize, seed: 1), to: "one.wacz")
        try store.write(GeneratedArchive(title: "Two", seed: 2, layout: .unsorted), to: "two.wacz")
        let imported = try await store.run("import", "one.wacz", "two.wacz", "--quiet")
        try #require(imported.code == 0, "\(imported.errors)")
        return store
    }

    /// docs/json.md, "On the command line".
    @Test func jsonIsAsDocumented() async throws {
        let store = try await filled()
        let results = [
            ("json-backup", try await store.run("backup", "copies", "--verify", "--prune", "--json")),
            ("json-restore", try await store.run("restore", "copies", "--store", "again", "--json")),
        ]
        let documented = String(decoding: try contents(of: Checkout.path("docs/json.md")), as: UTF8.self)
        for (name, result) in results {
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.errors.isEmpty)
            let object = try #require(try objects(result.outputLines).first)
            for key in object.keys {
                #expect(documented.contains(try Regex("[`{, ]\(key)[`}, ]")), "\(key)")
            }
            #expect((object["madeAt"] as? String)?.contains(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) == true)
            let text = result.output.replacing(/"madeAt":"[^"]*"/, with: "\"madeAt\":\"TIME\"")
                .replacingOccurrences(of: store.folder.path, with: "FOLDER")
            let difference = try Golden.difference(text, file: golden(name))
            #expect(difference == nil)
        }
        let lists = (try await store.run("list", "--json"), try await store.run("list", "--json", "--store", "again"))
        #expect(lists.0.output == lists.1.output)
        #expect(lists.0.outputLines.count == 2)
    }

    @Test func textReportsTheResult() async throws {
        let store = try await filled()
        let first = try await store.run("backup", "copies")
        #expect(first.code == 0)
        #expect(first.output.hasPrefix("backed up 2 archives and 0 collections: 2 files ("))
        #expect(first.errors == "store: \(store.store) (REPLAYHOST_STORE)\n")
        let second = try await store.run("backup", "copies", "--verify")
        #expect(
            second.outputLines.first?.hasPrefix("backed up 2 archives and 0 collections: 0 files copied, 2 files (")
                == true)
        #expect(second.outputLines.last?.hasPrefix("verified 2 files (") == true)
        let quiet = try await store.run("backup", "copies", "--verify", "--quiet")
        #expect((quiet.output + quiet.errors).isEmpty)
        let restored = try await store.run("restore", "copies", "--store", "again")
        #expect(
            restored.output.contains(
                /^restored 2 archives and 0 collections as of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: 2 files/)
        )
        let again = try await store.run("restore", "copies", "--store", "again")
        #expect(again.output.contains("0 files copied, 2 already there"))
        #expect(try await store.run("remove", "one", "--yes").code == 0)
        let pruned = try await store.run("backup", "copies", "--prune")
        #expect(pruned.output.contains(/deleted 1 file \(.*\) no longer needed/))
        #expect(names(in: store.folder.path("copies/files")).count == 1)
    }

    @Test(
        arguments: [
            ("backup", 2, nil), ("restore", 2, nil), ("backup copies --store none", 3, "not-found"),
            ("restore none", 3, "not-found"), ("restore empty --store other", 3, "not-found"),
            ("backup store/below", 1, "failed"), ("backup .", 1, "failed"), ("backup one.wacz", 1, "failed"),
            ("restore store --store store/below", 1, "failed"), ("backup /proc/backup", 1, "failed"),
            ("restore newer --store other", 5, "store-unusable"), ("restore bad --store other", 5, "document-damaged"),
            ("backup newer", 5, "store-unusable"), ("backup bad", 5, "document-damaged"),
        ] as [(String, Int32, String?)])
    func exitCodesAreAsDocumented(line: String, code: Int32, error: String?) async throws {
        let store = try await filled()
        try FileManager.default.createDirectory(
            atPath: store.folder.path("empty"), withIntermediateDirectories: true)
        try store.folder.write("{\"format\":99}", to: "newer/backup.json")
        try store.folder.write("{", to: "bad/backup.json")
        let result = try await store.run(line.split(separator: " ").map(String.init) + ["--json"])
        #expect(result.code == code, "\(result.errors)")
        #expect(result.output.isEmpty)
        if let error { #expect(try errorCodes(result) == [error]) }
        #expect(!FileManager.default.fileExists(atPath: store.folder.path("other")))
    }

    @Test func damagedFilesAreReportedWithExitCode4() async throws {
        let store = try await filled(payloadSize: 10_000)
        #expect(try await store.run("backup", "copies").code == 0)
        let list = try objects(try await store.run("list", "--json").outputLines)
        let hash = try #require(list.first { $0["id"] as? String == "one" }?["sha256"] as? String)
        for place in ["copies", "store"] {
            let path = store.folder.path("\(place)/files/\(hash).wacz")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seek(toOffset: 5000)
            try file.write(contentsOf: Array("damage".utf8))
            try file.close()
        }
        let backup = try await store.run("backup", "fresh", "--json")
        #expect(backup.code == 4)
        #expect(try errorCodes(backup) == ["archive-damaged"])
        #expect(try objects(backup.outputLines).first?["leftOut"] as? [String] == ["one"])
        let text = try await store.run("backup", "fresh")
        #expect(text.code == 4)
        #expect(text.errors.contains(": the file of \"one\" is damaged: its SHA-256 is "))
        #expect(text.output.contains("not backed up: one"))
        let restored = try await store.run("restore", "copies", "--store", "again", "--json")
        #expect(restored.code == 4)
        #expect(try errorCodes(restored) == ["archive-damaged"])
        #expect(try objects(restored.outputLines).first?["leftOut"] as? [String] == ["one"])
        #expect(try await store.run("list", "--store", "again", "--json").outputLines.count == 1)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func interruptedBackupsEndWith130AndCanContinue(signal: Int32) async throws {
        let store = try await filled(payloadSize: 64 << 20)
        for (command, incoming) in [
            (["backup", "copies"], "copies/incoming"), (["restore", "copies", "--store", "again"], "again/incoming"),
        ] {
            let folder = store.folder.path(incoming)
            let result = try await onThread {
                let program = try store.launch(command)
                defer { program.send(SIGKILL) }
                try program.waitUntil { !names(in: folder).isEmpty }
                program.send(signal)
                return program.wait()
            }
            #expect(result.code == 130, "\(result.errors)")
            #expect(!result.wasKilled, "it cleans up and exits")
            #expect(result.errors.contains("interrupted"))
            #expect(names(in: folder).isEmpty)
            #expect(
                !FileManager.default.fileExists(atPath: store.folder.path("copies/backup.json"))
                    || command[0] != "backup")
            #expect(try await store.run(command).code == 0)
        }
        let lists = (try await store.run("list", "--json"), try await store.run("list", "--json", "--store", "again"))
        #expect(lists.0.output == lists.1.output)
    }

    @Test func aRunningServerAllowsBackupsAndBlocksRestores() async throws {
        let store = try await filled()
        for number in 3...10 {
            try store.write(GeneratedArchive(payloadSize: 3 << 20, seed: UInt64(number)), to: "many/\(number).wacz")
        }
        let backups = try await store.start("serve", "--port", "0") { server in
            let line = server.outputLine { $0.contains("http://localhost:") }
            #expect(line != nil)
            let importer = try store.launch(["import", "many"])
            defer { importer.send(SIGKILL) }
            var backups: [ProgramResult] = []
            repeat {
                backups.append(try store.launch(["backup", "copies/\(backups.count)", "--json"]).wait())
            } while kill(importer.processID, 0) == 0
            backups.append(try store.launch(["backup", "copies/last", "--json"]).wait())
            #expect(importer.wait().code == 0)
            let refused = try store.launch(["restore", "copies/last", "--json"]).wait()
            #expect(refused.code == 5)
            #expect(try errorCodes(refused) == ["store-locked"])
            #expect(refused.errors.contains("http://localhost:"))
            return backups
        }
        #expect(backups.count >= 2)
        for (number, backup) in backups.enumerated() {
            #expect(backup.code == 0, "\(backup.errors)")
            let name = number == backups.count - 1 ? "last" : "\(number)"
            let restored = try await store.run("restore", "copies/\(name)", "--store", "again-\(name)", "--json")
            #expect(restored.code == 0, "\(restored.errors)")
            let counts = try [backup, restored].map { try objects($0.outputLines).first?["archives"] as? Int }
            #expect(counts[0] == counts[1])
        }
        let lists = (
            try await store.run("list", "--json"), try await store.run("list", "--json", "--store", "again-last")
        )
        #expect(lists.0.outputLines.count == 10)
        // A backup has no verifications: its files have been compared with their hashes just now.
        let all = try [lists.0, lists.1].map { list in
            try objects(list.outputLines).map { archive in
                try JSONSerialization.data(
                    withJSONObject: archive.filter {
                        !["verification", "verificationSummary", "findingCounts"].contains($0.key)
                    },
                    options: .sortedKeys)
            }
        }
        #expect(all[0] == all[1])
    }
}
