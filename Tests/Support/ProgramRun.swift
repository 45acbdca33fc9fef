import Foundation
import Synchronization

#if canImport(Glibc)
import CLinux
import Glibc
#else
import Darwin
#endif

/// The result of a program.
package struct ProgramResult: Sendable {
    /// The exit code; as in shells, 128 plus the signal number if a signal ended it.
    package let code: Int32
    /// Whether a signal ended the program.
    package let wasKilled: Bool
    package let output: String
    package let errors: String

    package var outputLines: [String] { output.split(separator: "\n").map(String.init) }
    package var errorLines: [String] { errors.split(separator: "\n").map(String.init) }
}

/// A running program.
///
/// It doesn't use Foundation's `Process`, which crashes with more than a thousand open files, as in parallel tests.
package final class ProgramRun: Sendable {
    private let input: FileHandle
    private let output: Collector
    private let errors: Collector
    private let ended = DispatchSemaphore(value: 0)
    private let hasEnded = Atomic(false)
    private let status = Mutex<Int32>(0)
    package let processID: Int32
    private static let sanitizers: Set = ["ASAN_OPTIONS", "TSAN_OPTIONS"]

    /// A lock that prevents starting programs before the ends of a new pipe are close-on-exec.
    private static let starting = NSLock()

    /// - Parameter environment: Added to a small fixed environment, so that local settings don't affect tests. Only
    ///   sanitizer options are inherited, for `make sanitize`.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], folder: String? = nil
    ) throws {
        let variables = [
            "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8", "TZ": "UTC",
        ].merging(ProcessInfo.processInfo.environment.filter { Self.sanitizers.contains($0.key) }) { $1 }
            .merging(environment) { $1 }
        let started = try Self.starting.withLock {
            try StartedProgram(
                ["/usr/bin/env", "-C", folder ?? NSTemporaryDirectory(), program] + arguments,
                environment: variables.map { "\($0)=\($1)" })
        }
        processID = started.processID
        input = started.input
        output = Collector(started.output)
        errors = Collector(started.errors)
        let thread = Thread { [self] in
            var status: Int32 = 0
            while waitpid(processID, &status, 0) < 0, errno == EINTR {}
            self.status.withLock { $0 = status }
            hasEnded.store(true, ordering: .releasing)
            ended.signal()
        }
        thread.start()
    }

    /// Writes to the program's standard input. Ignores that the program may have ended.
    package func write(_ bytes: some Sequence<UInt8>) {
        signal(SIGPIPE, SIG_IGN)
        try? input.write(contentsOf: Data(bytes))
    }

    package func closeInput() { try? input.close() }

    package func send(_ number: Int32) { kill(processID, number) }

    /// Waits for the first line of standard output that satisfies `condition`; `nil` if the program ends without one.
    package func outputLine(where condition: @escaping @Sendable (String) -> Bool) -> String? {
        output.line(where: condition)
    }

    package func errorLine(where condition: @escaping @Sendable (String) -> Bool) -> String? {
        errors.line(where: condition)
    }

    /// Blocks until the program has satisfied a condition.
    ///
    /// - Throws: `WaitedInVain` if the program ends before, or takes too long.
    package func waitUntil(
        within seconds: Double = 300, _ condition: () throws -> Bool
    ) throws {
        try TestSupport.waitUntil(within: seconds) {
            let isOver = hasEnded.load(ordering: .acquiring)
            if try condition() { return true }
            if isOver { throw WaitedInVain(description: "the program ended meanwhile: \(wait().errors)") }
            return false
        }
    }

    /// Waits until the program ends, and kills it if it takes too long.
    package func wait(within seconds: Double = 300) -> ProgramResult {
        if ended.wait(timeout: .now() + seconds) == .timedOut {
            send(SIGKILL)
            ended.wait()
        }
        let status = status.withLock { $0 }
        let signal = status & 0x7F
        return ProgramResult(
            code: signal == 0 ? (status >> 8) & 0xFF : 128 + signal, wasKilled: signal != 0, output: output.whole(),
            errors: errors.whole())
    }
}

/// A started program, with this process's ends of its pipes.
private struct StartedProgram {
    let processID: Int32
    let input: FileHandle
    let output: FileHandle
    let errors: FileHandle

    init(_ arguments: [String], environment: [String]) throws {
        let (stdin, stdout, stderr) = (try Self.pipe(), try Self.pipe(), try Self.pipe())
        #if canImport(Glibc)
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #else
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (end, number) in [(stdin.reading, 0), (stdout.writing, 1), (stderr.writing, 2)] {
            posix_spawn_file_actions_adddup2(&actions, end, Int32(number))
        }
        // The default signal handling, independent of that in the tests.
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        var pid: pid_t = 0
        let failure = Self.withCStrings(arguments) { arguments in
            Self.withCStrings(environment) { posix_spawn(&pid, "/usr/bin/env", &actions, &attributes, arguments, $0) }
        }
        for end in [stdin.reading, stdout.writing, stderr.writing] { close(end) }
        input = FileHandle(fileDescriptor: stdin.writing, closeOnDealloc: true)
        output = FileHandle(fileDescriptor: stdout.reading, closeOnDealloc: true)
        errors = FileHandle(fileDescriptor: stderr.reading, closeOnDealloc: true)
        guard failure == 0 else { throw NSError(domain: NSPOSIXErrorDomain, code: Int(failure)) }
        processID = pid
    }

    /// Returns the ends of a pipe that other programs don't inherit.
    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        #if os(Linux)
        // Sets the flag atomically: a program started in between would keep an end open, and a reader waiting.
        let failure = pipe2(&ends, O_CLOEXEC)
        #else
        let failure = systemPipe(&ends)
        for end in ends where failure == 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #endif
        guard failure == 0 else { throw NSError(domain: NSPOSIXErrorDomain, code: Int(errno)) }
        return (ends[0], ends[1])
    }

    private static func withCStrings<Value>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Value
    ) -> Value {
        let copies = texts.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return body(copies)
    }
}

#if !os(Linux)
/// Calls the system's `pipe`, which a method hides.
private func systemPipe(_ ends: UnsafeMutablePointer<Int32>) -> Int32 { pipe(ends) }
#endif

/// Runs a program to its end, outside Swift's thread pool.
package func run(
    _ program: String, _ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:],
    folder: String? = nil
) async throws -> ProgramResult {
    try await onThread {
        let program = try ProgramRun(program, arguments, environment: environment, folder: folder)
        program.write(input)
        program.closeInput()
        return program.wait()
    }
}

extension TemporaryFolder {
    /// Writes an executable program and returns its path.
    ///
    /// Another process writes it. If this one did, a child started at the same time would keep it open for writing, and
    /// Linux doesn't run programs that are open for writing (`ETXTBSY`).
    @discardableResult
    package func writeProgram(_ text: String, to name: String) async throws -> String {
        let path = path(name)
        let result = try await run(
            "/bin/sh", ["-c", "cat > \"$0\" && chmod 755 \"$0\"", path], input: Array(text.utf8))
        guard result.code == 0 else { throw WaitedInVain(description: result.errors) }
        return path
    }
}

/// Returns the SHA-256 of a file, calculated by OpenSSL.
package func sha256ByOpenSSL(_ path: String) async throws -> String {
    let result = try await run("/usr/bin/openssl", ["dgst", "-sha256", "-r", path])
    return String(result.output.prefix(64))
}

/// Reads a pipe to its end on a separate thread.
private final class Collector: Sendable {
    private struct State {
        var bytes = Data()
        var isAtEnd = false
    }
    private let condition = NSCondition()
    private let state = Mutex(State())

    init(_ handle: FileHandle) {
        let thread = Thread { [self] in
            // Closes the handle at its end.
            defer { try? handle.close() }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                // `read(2)` returns the available bytes; `FileHandle.read(upToCount:)` would wait for all of them.
                let count = read(handle.fileDescriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                condition.lock()
                state.withLock {
                    if count > 0 { $0.bytes += buffer[..<count] } else { $0.isAtEnd = true }
                }
                condition.broadcast()
                condition.unlock()
                if count <= 0 { return }
            }
        }
        thread.start()
    }

    func line(where wanted: @Sendable (String) -> Bool) -> String? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            let (text, isAtEnd) = state.withLock { (String(decoding: $0.bytes, as: UTF8.self), $0.isAtEnd) }
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            if let line = lines.dropLast().first(where: { wanted(String($0)) }) { return String(line) }
            if isAtEnd { return nil }
            condition.wait()
        }
    }

    func whole() -> String {
        condition.lock()
        defer { condition.unlock() }
        while !state.withLock({ $0.isAtEnd }) { condition.wait() }
        return state.withLock { String(decoding: $0.bytes, as: UTF8.self) }
    }
}
