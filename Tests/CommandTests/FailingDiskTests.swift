import Foundation
import TestSupport
import Testing

/// A disk that fails while index files are written: the import leaves nothing behind, and can be repeated.
@Suite(.enabled(if: FailingDisk.isPossible, "no C compiler is installed"))
struct FailingDiskTests {
    struct Failure: Sendable, CustomTestStringConvertible {
        let call: String
        let suffix: String
        /// The error code in JSON.
        let code: String
        var layout = GeneratedArchive.Layout.unsorted
        var testDescription: String { "\(call) of *\(suffix): \(code)" }
    }

    @Test(arguments: [
        Failure(call: "write", suffix: ".cdx.gz", code: "no-space"),
        Failure(call: "write", suffix: ".idx", code: "no-space"),
        Failure(call: "write", suffix: ".cdx.gz", code: "failed"),
        Failure(call: "fsync", suffix: ".cdx.gz", code: "failed"),
        Failure(call: "fsync", suffix: ".idx", code: "no-space"),
        Failure(call: "rename", suffix: ".cdx.gz", code: "failed"),
        Failure(call: "rename", suffix: ".idx", code: "no-space"),
        Failure(call: "rename", suffix: ".wacz", code: "failed"),
        Failure(call: "write", suffix: ".idx", code: "no-space", layout: .zipNumDeflated),
        Failure(call: "fsync", suffix: ".idx", code: "failed", layout: .zipNumDeflated),
        Failure(call: "rename", suffix: ".wacz", code: "failed", layout: .zipNumDeflated),
    ])
    func failedImportLeavesNothing(_ failure: Failure) async throws {
        let store = try CommandStore()
        let disk = try await FailingDisk(in: store.folder)
        let pages = (0..<9).map { GeneratedArchive.Page(url: "http://example.org/\($0)") }
        try store.write(GeneratedArchive(pages: pages, layout: failure.layout), to: "a.wacz")
        try store.write(GeneratedArchive(seed: 2), to: "bystander.wacz")
        #expect(try await store.run("import", "bystander.wacz").code == 0)
        let before = names(in: store.folder.path("store/files"))

        let result = try await store.run(
            ["import", "a.wacz", "--json"],
            environment: disk.environment(
                call: failure.call, suffix: failure.suffix, error: failure.code == "no-space" ? ENOSPC : EIO))
        #expect(result.code == 1)
        #expect(try errorCodes(result) == [failure.code])
        #expect(result.output.isEmpty)
        #expect(names(in: store.folder.path("store/files")) == before)
        #expect(names(in: store.folder.path("store/incoming")).isEmpty)
        #expect(try await store.run("list", "--json").outputLines.count == 1)

        #expect(try await store.run("import", "a.wacz").code == 0)
        let doctor = try await store.run("doctor", "--port", "0")
        #expect(doctor.output.contains("no interrupted work found"))
        #expect(doctor.output.contains("all archives are ready to search"))
    }
}
