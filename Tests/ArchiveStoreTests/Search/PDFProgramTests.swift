import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a program in the place of `pdftotext` can do, in each sandbox and without.
@Suite(.enabled(if: Intruder.isAvailable, "there is no C compiler, or the system isn't Linux"))
struct PDFProgramTests {
    typealias Sandbox = PDFProgram.Sandbox

    /// The control: what isn't possible for any program on this system shows nothing.
    @Test func withoutASandboxEachAttemptWorks() throws {
        let intruder = try Intruder()
        for attempt in Intruder.attempts where !Intruder.mayFailAnyway.contains(attempt.name) {
            #expect(try intruder.result(of: attempt, in: nil) == "worked", "\(attempt)")
        }
    }

    @Test(.enabled(if: Intruder.works(in: .landlock), "this kernel lacks Landlock"))
    func withLandlockOnlyTheInputCanBeRead() throws { try checkThatOnlyTheInputCanBeRead(in: .landlock) }

    @Test(.enabled(if: Intruder.works(in: .bubblewrap), "bubblewrap isn't installed, or namespaces are forbidden"))
    func withBubblewrapOnlyTheInputCanBeRead() throws { try checkThatOnlyTheInputCanBeRead(in: .bubblewrap) }

    private func checkThatOnlyTheInputCanBeRead(in sandbox: Sandbox) throws {
        let intruder = try Intruder()
        for attempt in Intruder.attempts {
            let result = try intruder.result(of: attempt, in: sandbox)
            #expect(result.wholeMatch(of: /E[A-Z]+/) != nil, "\(attempt): \(result)")
        }
        #expect(try intruder.changes() == [])
        #expect(try intruder.result(of: .init("read", "{input}"), in: sandbox) == "worked")
        #expect(try intruder.result(of: .init("read", "/etc/ld.so.cache"), in: sandbox) == "worked")
    }

    /// Prints what `docs/safety.md` sums up: `PRINT_ATTEMPTS=1 swift test --filter PDFProgramTests`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["PRINT_ATTEMPTS"] == "1"))
    func attemptsArePrinted() throws {
        for attempt in Intruder.attempts {
            let results = try ([nil] + Sandbox.allCases.map { $0 }).map { sandbox in
                try Intruder.works(in: sandbox) ? Intruder().result(of: attempt, in: sandbox) : "not tried"
            }
            print("| \(attempt.name) `\(attempt.target)` | \(results.joined(separator: " | ")) |")
        }
    }

    /// The filter of system calls names a descriptor. The program's file may have that number when it's opened.
    @Test(arguments: [nil, .landlock, .bubblewrap].filter(Intruder.works))
    func programStartsWhateverItsDescriptorIs(_ sandbox: Sandbox?) throws {
        let program = PDFProgram(path: "/usr/bin/true", sandbox: sandbox)
        var held: [Int32] = []
        defer { for number in held { close(number) } }
        // Other tests may hold the low numbers already.
        while held.count < 8 || held.last ?? 0 < 200 {
            held.append(open("/dev/null", O_RDONLY | O_CLOEXEC))
            try #require(held.last != -1)
        }
        // The pipes before it take some of the free numbers.
        for _ in 0..<8 {
            close(held.removeLast())
            #expect(try program.run([]) == .success)
        }
    }

    @Test(arguments: [nil, .landlock, .bubblewrap].filter(Intruder.works))
    func aSilentProgramEndsWithTheOneThatReads(_ sandbox: Sandbox?) throws {
        struct Enough: Error {}
        let intruder = try Intruder()
        let error = #expect(throws: Enough.self) {
            _ = try intruder.run(.init("wait", "-"), in: sandbox) { _ in throw Enough() }
        }
        #expect(error != nil)
    }

    /// It uses no processor time, and there is nothing to read from it.
    @Test(arguments: Sandbox.allCases.filter(Intruder.works))
    func aProgramThatWaitsForeverIsEnded(_ sandbox: Sandbox) throws {
        let intruder = try Intruder()
        #expect(try intruder.run(.init("hang"), in: sandbox, secondsMax: 2) { _ in } == .failure)
    }
}

/// A program in the place of `pdftotext`, and what it wants: private files, sockets, other processes.
private final class Intruder {
    struct Attempt: CustomStringConvertible, Sendable {
        let name: String
        let target: String

        init(_ name: String, _ target: String = "-") { (self.name, self.target) = (name, target) }
        var description: String { "\(name) \(target)" }
    }

    /// `{file}` is a file of the attempt's own, `{pid}` another process.
    static let attempts = [
        Attempt("read", "{home}/.ssh/id_ed25519"), .init("read", "{store}/catalog.sqlite"),
        .init("read", "/etc/passwd"),
        .init("read", "{tmp}"), .init("read", "/proc/{pid}/environ"), .init("read", "/proc/self/maps"),
        .init("list", "{home}"), .init("list", "{store}/files"), .init("list", "/var"), .init("list", "/proc"),
        .init("create", "{home}/new"), .init("create", "{store}/files/new"), .init("create", "{tmp}.new"),
        .init("append", "{store}/catalog.sqlite"), .init("append", "{input}"), .init("append", "{file}"),
        .init("empty", "{input}"), .init("empty", "{file}"), .init("truncate", "{input}"),
        .init("truncate", "{file}"), .init("rename", "{file}"), .init("link", "{file}"), .init("unlink", "{file}"),
        .init("mkdir", "{home}/folder"), .init("chmod", "{file}"), .init("times", "{file}"), .init("xattr", "{file}"),
        .init("watch", "{home}"), .init("connect", "{port}"), .init("udp", "{port}"), .init("listen"),
        .init("local-socket", "{socket}"), .init("netlink"), .init("fork"), .init("thread"), .init("system"),
        .init("execute", "/bin/echo"), .init("signal", "{pid}"), .init("trace", "{pid}"), .init("namespace"),
        .init("shared-memory"), .init("memory-file"), .init("io-uring"), .init("limits"), .init("outlive"),
        .init("descriptors"), .init("home"),
    ]

    /// The system can refuse these to every program. The last two fail without a sandbox, too.
    static let mayFailAnyway: Set = ["xattr", "trace", "namespace", "io-uring", "limits", "descriptors", "home"]

    private static let program: (path: String, folder: TemporaryFolder)? = {
        #if os(Linux)
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "intruder.c").path
        guard let folder = try? TemporaryFolder(),
            let compiler = try? ProgramRun("cc", ["-o", folder.path("pdftotext"), source]), compiler.wait().code == 0
        else { return nil }
        return (folder.path("pdftotext"), folder)
        #else
        return nil
        #endif
    }()

    static let isAvailable = program != nil

    /// Whether a sandbox works here: a program starts in it.
    static func works(in sandbox: PDFProgram.Sandbox?) -> Bool {
        (try? PDFProgram(path: "/usr/bin/true", sandbox: sandbox).run([])) == .success
    }

    private let folder: TemporaryFolder
    private let temporary = "/tmp/replayhost-test-\(UUID().uuidString.lowercased())"
    private let neighbour: ProgramRun
    private let sockets: [Int32]
    private let port: UInt16

    init() throws {
        folder = try TemporaryFolder()
        for name in ["home/.ssh/id_ed25519", "store/catalog.sqlite", "store/files/a.wacz"] {
            try folder.write("private", to: name)
        }
        try Data("private".utf8).write(to: URL(fileURLWithPath: temporary))
        neighbour = try ProgramRun("sleep", ["3600"])
        let tcp = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let local = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        sockets = [tcp, local]
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        port = try Self.listen(tcp, &address).sin_port.bigEndian
        var path = sockaddr_un()
        path.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &path.sun_path) { $0.copyBytes(from: Self.bytes(of: temporary + ".socket")) }
        _ = try Self.listen(local, &path)
    }

    deinit {
        neighbour.send(SIGKILL)
        for socket in sockets { close(socket) }
        for ending in ["", ".socket", ".new"] { unlink(temporary + ending) }
    }

    private static func bytes(of text: String) -> [UInt8] { Array(text.utf8) }

    private static func listen<Address>(_ socket: Int32, _ address: inout Address) throws -> Address {
        var size = socklen_t(MemoryLayout<Address>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                try #require(bind(socket, pointer, size) == 0 && Glibc.listen(socket, 9) == 0)
                try #require(getsockname(socket, pointer, &size) == 0)
            }
        }
        return address
    }

    /// Runs an attempt, and returns "worked" or the name of the error.
    func result(of attempt: Attempt, in sandbox: PDFProgram.Sandbox?) throws -> String {
        let text = Output()
        let end = try run(attempt, in: sandbox) { text.bytes += $0 }
        #expect(end == .success, "\(attempt)")
        return String(decoding: text.bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private final class Output { var bytes: [UInt8] = [] }

    func run(
        _ attempt: Attempt, in sandbox: PDFProgram.Sandbox?, secondsMax: UInt32 = 600,
        receive: ([UInt8]) throws -> Void
    ) throws -> PDFProgram.End {
        let input = folder.path("input")
        var target = attempt.target
        for (name, value) in [
            "{home}": folder.path("home"), "{store}": folder.path("store"), "{tmp}": temporary,
            "{socket}": temporary + ".socket", "{port}": "\(port)", "{pid}": "\(neighbour.processID)",
            "{input}": input, "{file}": folder.path("home/\(attempt.name)"),
        ] { target = target.replacingOccurrences(of: name, with: value) }
        if attempt.target == "{file}" { try folder.write("private", to: "home/\(attempt.name)") }
        try folder.write("\(attempt.name) \(target)\n", to: "input")
        let program = PDFProgram(path: try #require(Self.program).path, sandbox: sandbox, secondsMax: secondsMax)
        return try program.run(["-q", input, "-"], input: input, receive: receive)
    }

    /// The private files that aren't what they were, and new ones.
    func changes() throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).map(folder.path)
        return try (names + [temporary, temporary + ".new"]).filter { path in
            var status = stat()
            guard path != folder.path("input"), lstat(path, &status) == 0 else { return path == temporary }
            guard status.st_mode & S_IFMT == S_IFREG else { return path == folder.path("home/folder") }
            return try contents(of: path) != Self.bytes(of: "private") || status.st_mode & 0o022 != 0
                || status.st_nlink != 1
        }
    }
}
