import Foundation
import TestSupport
import Testing

/// Simulates a failing disk: a preloaded library makes one call fail for some files. Needs `cc`.
struct FailingDisk: Sendable {
    private let library: String

    static let isPossible = FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")

    init(in folder: TemporaryFolder) async throws {
        let source = try folder.write(Self.source, to: "shim.c")
        library = folder.path("shim.so")
        let made = try await run("/usr/bin/cc", ["-shared", "-fPIC", "-o", library, source, "-ldl"])
        try #require(made.code == 0, "\(made.errors)")
    }

    /// - Parameters:
    ///   - call: `read`, `write`, `fsync` or `rename`. Copies within the kernel count as both `read` and `write`. With
    ///     `space`, `statvfs` reports a full disk.
    ///   - suffix: The end of the file's path; for `rename`, of the new path.
    ///   - part: A part of that path.
    func environment(call: String, suffix: String? = nil, part: String? = nil, error: Int32) -> [String: String] {
        var environment = ["LD_PRELOAD": library, "FAILING_CALL": call, "FAILING_ERRNO": "\(error)"]
        environment["FAILING_SUFFIX"] = suffix
        environment["FAILING_PART"] = part
        return environment
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/statvfs.h>
        #include <unistd.h>

        static int fails(const char *call, const char *path) {
            const char *wanted = getenv("FAILING_CALL"), *suffix = getenv("FAILING_SUFFIX"), *part = getenv("FAILING_PART");
            size_t length = strlen(path);
            if (!wanted || strcmp(wanted, call)) return 0;
            if (suffix && (length < strlen(suffix) || strcmp(path + length - strlen(suffix), suffix))) return 0;
            if (part && !strstr(path, part)) return 0;
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

        ssize_t read(int file, void *bytes, size_t count) {
            if (fails_at("read", file)) return -1;
            return ((ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read"))(file, bytes, count);
        }

        ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
            if (fails_at("read", file)) return -1;
            return ((ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread"))(file, bytes, count, offset);
        }

        ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
            if (fails_at("read", file)) return -1;
            return ((ssize_t (*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64"))(file, bytes, count, offset);
        }

        ssize_t copy_file_range(int source, off64_t *from, int target, off64_t *to, size_t count, unsigned flags) {
            if (fails_at("read", source) || fails_at("write", target)) return -1;
            return ((ssize_t (*)(int, off64_t *, int, off64_t *, size_t, unsigned))dlsym(RTLD_NEXT, "copy_file_range"))(
                source, from, target, to, count, flags);
        }

        int fsync(int file) {
            if (fails_at("fsync", file)) return -1;
            return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
        }

        int statvfs(const char *path, struct statvfs *status) {
            int result = ((int (*)(const char *, struct statvfs *))dlsym(RTLD_NEXT, "statvfs"))(path, status);
            if (fails("space", path)) status->f_bavail = 1;
            return result;
        }

        int rename(const char *source, const char *target) {
            if (fails("rename", target)) return -1;
            return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(source, target);
        }
        """
}
