import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a program did.
package struct ProgramResult: Sendable {
    /// The exit code; 128 and the signal's number when a signal ended it, as shells say it.
    package let code: Int32
    /// Whether a signal ended it, rather than itself.
    package let wasKilled: Bool
    package let output: String
    package let errors: String

    package var outputLines: [String] { output.split(separator: "\n").map(String.init) }
    package var errorLines: [String] { errors.split(separator: "\n").map(String.init) }
}

/// A program that runs.
package final class ProgramRun: Sendable {
    private let process: Mutex<Process>
    private let input: FileHandle
    private let output: Collector
    private let errors: Collector
    private let ended = DispatchSemaphore(value: 0)
    package let processID: Int32

    /// - Parameter environment: Set over a small fixed one, so that nobody's own settings change what is tested.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], folder: String? = nil
    ) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = [
            "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8", "TZ": "UTC",
        ].merging(environment) { $1 }
        process.currentDirectoryURL = URL(fileURLWithPath: folder ?? NSTemporaryDirectory())
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (stdin, stdout, stderr)
        let ended = ended
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        processID = process.processIdentifier
        input = stdin.fileHandleForWriting
        output = Collector(stdout.fileHandleForReading)
        errors = Collector(stderr.fileHandleForReading)
        self.process = Mutex(process)
    }

    /// Writes to its standard input. A program that went away meanwhile is no error.
    package func write(_ bytes: some Sequence<UInt8>) {
        signal(SIGPIPE, SIG_IGN)
        try? input.write(contentsOf: Data(bytes))
    }

    package func closeInput() { try? input.close() }

    package func send(_ number: Int32) { kill(processID, number) }

    /// The first line of standard output that satisfies `condition`; `nil` when the program ended without one.
    package func outputLine(where condition: @escaping @Sendable (String) -> Bool) -> String? {
        output.line(where: condition)
    }

    package func errorLine(where condition: @escaping @Sendable (String) -> Bool) -> String? {
        errors.line(where: condition)
    }

    /// Waits for its end; kills it when that takes too long.
    package func wait(within seconds: Double = 60) -> ProgramResult {
        if ended.wait(timeout: .now() + seconds) == .timedOut {
            send(SIGKILL)
            ended.wait()
        }
        let (texts, status) = (
            (output.whole(), errors.whole()), process.withLock { ($0.terminationStatus, $0.terminationReason) }
        )
        let wasKilled = status.1 == .uncaughtSignal
        return ProgramResult(
            code: wasKilled ? 128 + status.0 : status.0, wasKilled: wasKilled, output: texts.0, errors: texts.1)
    }
}

/// Runs a program to its end, off Swift's own threads.
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

/// The SHA-256 of a file by another implementation than ours: OpenSSL's.
package func sha256ByOpenSSL(_ path: String) async throws -> String {
    let result = try await run("/usr/bin/openssl", ["dgst", "-sha256", "-r", path])
    return String(result.output.prefix(64))
}

/// Reads a pipe to its end on a thread of its own.
private final class Collector: Sendable {
    private struct State {
        var bytes = Data()
        var isAtEnd = false
    }
    private let condition = NSCondition()
    private let state = Mutex(State())

    init(_ handle: FileHandle) {
        let thread = Thread { [self] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                // `read(2)` hands over what is there; `FileHandle.read(upToCount:)` would wait for all of it.
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
