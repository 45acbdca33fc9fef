import Foundation
import TestSupport
import Testing

/// `replayhost export`.
struct ExportCommandTests {
    @Test(arguments: ["new", "./new", "folder/new"])
    func filesAreSavedInARelativeFolder(folder: String) async throws {
        let store = try await CommandStore.withSample()
        let result = try await store.run("export", "sample", "--files", folder, "--type", "image")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("sample: saved 7 files ("))
        #expect(result.output.hasSuffix(") in \(folder)\n"))
        #expect(names(in: store.folder.path(folder)).contains("files.jsonl"))
        #expect(!names(in: store.folder.path).contains { $0.contains(".part-") })
        let again = try await store.run("export", "sample", "--files", folder)
        #expect(again.code == 1)
        #expect(again.errors == "error: \(folder): the folder isn't empty\nhint: choose a new folder\n")
    }

    @Test func unusableFolderIsNamedOnce() async throws {
        let store = try await CommandStore.withSample()
        let none = try await store.run("export", "sample", "--files", "/proc/none")
        #expect(none.code == 3)
        #expect(none.errors == "error: /proc/none: no such file or folder\n")
        let file = try await store.run("export", "sample", "--files", "sample.wacz/none")
        #expect(file.code == 1)
        #expect(file.errors == "error: sample.wacz/none: creating the folder failed (Not a directory)\n")
    }

    @Test func pageIsSavedAsOfItsTime() async throws {
        let store = try await CommandStore.withSample()
        let records = ["2020", "2021", "2022"].map {
            RecordedArchive.Record("http://a.example/", "<title>In \($0)</title>", timestamp: "\($0)0101000000")
        }
        try store.folder.write(RecordedArchive(records).bytes(), to: "times.wacz")
        #expect(try await store.run("import", "times.wacz").code == 0)
        for (options, year) in [(["--at", "20210601"], "2021"), (["--at", "20200301"], "2020"), ([], "2022")] {
            let result = try await store.run(["export", "times", "--page", "http://a.example/"] + options)
            #expect(result.output.hasPrefix("times: saved In \(year).wacz (1 page, 1 capture, "), "\(result.errors)")
            #expect(result.output.hasSuffix("\n  http://a.example/, captured \(year)-01-01T00:00:00Z\n"))
        }
    }

    @Test(arguments: [[], ["--repaired"], ["--page", "https://fieldguide.example/"]])
    func fileIsSavedUnderARelativeName(options: [String]) async throws {
        let store = try await CommandStore.withSample()
        let result = try await store.run(["export", "sample", "--output", "copy.wacz"] + options)
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("sample: saved copy.wacz ("))
        #expect(names(in: store.folder.path).contains("copy.wacz"))
    }
}
