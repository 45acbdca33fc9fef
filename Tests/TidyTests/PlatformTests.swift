import Foundation
import Testing

/// What only Linux has stands where only Linux compiles it: the sources are for macOS and iOS as well.
struct PlatformTests {
    /// Names that the C library of Darwin lacks, or has with another type or meaning.
    static let linuxOnly =
        #"\b(preadv2|pwritev2|copy_file_range|splice|tee|posix_fadvise|posix_fallocate|fallocate|prctl|O_TMPFILE|O_PATH|O_DIRECT"#
        + #"|O_NOATIME|renameat2|RENAME_NOREPLACE|RENAME_EXCHANGE|f_type|SOCK_CLOEXEC|SOCK_NONBLOCK|accept4|pipe2|dup3|st_[acm]tim"#
        + #"|fdatasync|syncfs|sync_file_range|eventfd|timerfd_\w+|signalfd|epoll_\w+|inotify_\w+|io_uring_\w+|MSG_NOSIGNAL|POLLRDHUP"#
        + #"|gettid|TCP_CORK|SO_DOMAIN|SO_PEERCRED|memfd_create|FICLONE\w*|POSIX_FADV_\w+|ST_RDONLY|SEEK_DATA|SEEK_HOLE|F_OFD_\w+"#
        + #"|memrchr|mempcpy|strchrnul|qsort_r|mkostemps?|secure_getenv|malloc_trim|mallinfo2?|ioprio_\w+|sched_setaffinity|getrandom|pidfd_\w+|SYS_\w+|syscall|CLINUX_\w+)\b|\bSOCK_\w+\.rawValue|"/(proc|sys)/"#
    /// Modules that Linux alone has.
    static let linuxModules: Set<String> = ["Glibc", "CLinux"]
    /// What iOS does not let a program do: start others. The command line is not built for it.
    static let notOnIOS = #"\bProcess\(|\bposix_spawn\w*|\bfork\(\)|\bexecv\w*|(?<!\.)(?<!func )\bsystem\("#

    /// Lines outside of every `#if` branch that only Linux compiles, which the pattern finds, comments left out.
    ///
    /// - Parameter exempt: Other conditions whose branches are left out.
    static func unguarded(
        _ pattern: String, exempt: Set<String> = [], in file: TidyTests.SourceFile
    ) throws -> [String] {
        let expression = try NSRegularExpression(pattern: pattern)
        return outside(of: { isForLinux($0) || exempt.contains($0) }, in: file).filter { line in
            let isImport = TidyTests.importedModule(line.text).map { linuxModules.contains($0) } ?? false
            let range = NSRange(line.text.startIndex..., in: line.text)
            return isImport || expression.firstMatch(in: line.text, range: range) != nil
        }.map { "\(file.path):\($0.number): \($0.text.trimmingCharacters(in: .whitespaces))" }
    }

    /// Whether a condition holds on Linux alone.
    private static func isForLinux(_ condition: String) -> Bool {
        ["os(Linux)", "canImport(Glibc)"].contains(condition.trimmingCharacters(in: .whitespaces))
    }

    private static func outside(
        of isForLinux: (String) -> Bool, in file: TidyTests.SourceFile
    ) -> [(number: Int, text: String)] {
        var branches: [Bool] = []
        var found: [(number: Int, text: String)] = []
        for line in file.lines {
            let text = line.text.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("//") { continue }
            if text.hasPrefix("#if ") {
                branches.append(isForLinux(String(text.dropFirst(4))))
            } else if text.hasPrefix("#elseif "), !branches.isEmpty {
                branches[branches.count - 1] = isForLinux(String(text.dropFirst(8)))
            } else if text == "#else", !branches.isEmpty {
                branches[branches.count - 1] = false
            } else if text == "#endif", !branches.isEmpty {
                branches.removeLast()
            } else if !branches.contains(true) {
                found.append((line.number, line.text.components(separatedBy: " // ")[0]))
            }
        }
        return found
    }

    @Test func namesOfLinuxAreGuarded() throws {
        for file in TidyTests.sources {
            let found = try Self.unguarded(Self.linuxOnly, in: file)
            #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
        }
    }

    @Test func librariesForIOSStartNoPrograms() throws {
        let programs = ["Sources/replayhost/", "Sources/replayhost-capture/", "Sources/CaptureWorker/"]
        for file in TidyTests.sources where !programs.contains(where: file.path.hasPrefix) {
            let found = try Self.unguarded(Self.notOnIOS, exempt: ["os(Linux) || os(macOS)"], in: file)
            #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
        }
    }

    /// ShareKit is for iOS 15, whose Swift library and Foundation lack these. No compiler here knows that.
    static let newerThanIOS15 =
        #"\b(firstRange|ranges|wholeMatch|firstMatch|Regex|Duration|ContinuousClock|Mutex|Synchronization)\b|\.replacing\("#
        + #"|Task\.sleep\((for|until):|URL\(filePath|\.appending\(|[(= ]/[^/ *].*/[.,)]"#

    @Test func shareKitUsesNothingNewerThanIOS15() throws {
        let files = TidyTests.sources.filter { $0.path.hasPrefix("ShareKit/") }
        #expect(files.count > 20)
        let pattern = try NSRegularExpression(pattern: Self.newerThanIOS15)
        for file in files {
            for line in file.code {
                let match = pattern.firstMatch(in: line.text, range: NSRange(line.text.startIndex..., in: line.text))
                #expect(match == nil, "\(file.path):\(line.number): \(line.text)")
            }
        }
    }

    /// The check must find what it is for: planted names, outside of a guard, in the wrong branch, after its end.
    @Test(arguments: [
        ("preadv2(a, b, 1, 0, 0)", true), ("#if os(Linux)\npreadv2(a, b, 1, 0, 0)\n#endif", false),
        ("#if os(Linux)\n#else\n_ = st_mtim\n#endif", true), ("#if os(Linux)\n#endif\nposix_fadvise(1, 0, 0, 0)", true),
        ("#if canImport(Glibc)\nimport Glibc\n#else\nimport Darwin\n#endif", false), ("import Glibc", true),
        ("package import CLinux", true), ("#if os(macOS)\nimport Glibc\n#endif", true),
        ("#if os(macOS)\n#elseif os(Linux)\n_ = st_mtim\n#endif", false), ("let a = \"/proc/self/exe\"", true),
        ("#if os(Linux)\n#if DEBUG\nlet a = \"/proc/self/exe\"\n#endif\n#endif", false),
        ("// preadv2 would wait", false), ("_ = st_mtimespec", false),
        ("socket(f, Int32(SOCK_STREAM.rawValue), 0)", true),
        ("#if !os(Linux)\n_ = st_mtim\n#endif", true), ("#if os(Linux) || os(macOS)\n_ = st_mtim\n#endif", true),
    ])
    func plantedNamesAreFound(_ text: String, _ isFound: Bool) throws {
        let file = TidyTests.SourceFile(path: "planted.swift", text: text)
        #expect(try Self.unguarded(Self.linuxOnly, in: file).isEmpty != isFound)
    }

    @Test(arguments: [
        ("let process = Process()", true), ("ProcessInfo.processInfo", false), ("throw .system(errno)", false),
        ("system(text)", true), ("static func system(_ number: Int32)", false),
        ("#if os(macOS)\nProcess()\n#endif", true), ("#if os(Linux) || os(macOS)\nProcess()\n#endif", false),
        ("#if os(Linux) || os(macOS)\n#else\nProcess()\n#endif", true),
    ])
    func plantedProgramsAreFound(_ text: String, _ isFound: Bool) throws {
        let file = TidyTests.SourceFile(path: "planted.swift", text: text)
        #expect(
            try Self.unguarded(Self.notOnIOS, exempt: ["os(Linux) || os(macOS)"], in: file).isEmpty != isFound)
    }
}
