import Foundation
import TestSupport
import Testing

/// A disk that fails while the index files of an archive are written: nothing of the import stays, and it can be done again.
///
/// A library that is loaded before all others stands for the disk: it lets one call fail for files whose names end in a given
/// way. `cc` makes it.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/cc"), "there is no C compiler"))
struct FailingDiskTests {
    struct Failure: Sendable, CustomTestStringConvertible {
        let call: String
        let suffix: String
        /// As a program gets it.
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
    func nothingStays(_ failure: Failure) async throws {
        let store = try CommandStore()
        let source = try store.folder.write(Self.source, to: "shim.c")
        let library = store.folder.path("shim.so")
        let made = try await run("/usr/bin/cc", ["-shared", "-fPIC", "-o", library, source, "-ldl"])
        try #require(made.code == 0, "\(made.errors)")
        let pages = (0..<9).map { GeneratedArchive.Page(url: "http://example.org/\($0)") }
        try store.write(GeneratedArchive(pages: pages, layout: failure.layout), to: "a.wacz")
        try store.write(GeneratedArchive(seed: 2), to: "bystander.wacz")
        #expect(try await store.run("import", "bystander.wacz").code == 0)
        let before = names(in: store.folder.path("store/files"))

        let result = try await store.run(
            ["import", "a.wacz", "--json"],
            environment: [
                "LD_PRELOAD": library, "FAILING_CALL": failure.call, "FAILING_SUFFIX": failure.suffix,
                "FAILING_ERRNO": "\(failure.code == "no-space" ? ENOSPC : EIO)",
            ])
        #expect(result.code == 1)
        #expect(try errorCodes(result) == [failure.code])
        #expect(result.output.isEmpty)
        #expect(names(in: store.folder.path("store/files")) == before)
        #expect(names(in: store.folder.path("store/incoming")).isEmpty)
        #expect(try await store.run("list", "--json").outputLines.count == 1)

        #expect(try await store.run("import", "a.wacz").code == 0)
        let doctor = try await store.run("doctor", "--port", "0")
        #expect(doctor.output.contains("nothing was left half done"))
        #expect(doctor.output.contains("captures of every archive can be searched"))
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>

        static int fails(const char *call, const char *path) {
            const char *wanted = getenv("FAILING_CALL"), *suffix = getenv("FAILING_SUFFIX");
            size_t length = strlen(path);
            if (!wanted || !suffix || strcmp(wanted, call) || length < strlen(suffix)) return 0;
            if (strcmp(path + length - strlen(suffix), suffix)) return 0;
            errno = atoi(getenv("FAILING_ERRNO"));
            return 1;
        }

        static int fails_at(const char *call, int file) {
            char link[64], path[4096];
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            ssize_t length = readlink(link, path, sizeof path - 1);
            if (length < 0) return 0;
            path[length] = 0;
            return fails(call, path);
        }

        ssize_t write(int file, const void *bytes, size_t count) {
            if (fails_at("write", file)) return -1;
            return ((ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(file, bytes, count);
        }

        int fsync(int file) {
            if (fails_at("fsync", file)) return -1;
            return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
        }

        int rename(const char *source, const char *target) {
            if (fails("rename", target)) return -1;
            return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(source, target);
        }
        """
}
