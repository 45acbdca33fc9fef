import CaptureAPI
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CaptureWorker

struct ToolRunTests {
    private final class Lines: Sendable {
        private let all = Mutex<[String]>([])
        func add(_ line: String) { all.withLock { $0.append(line) } }
        var found: [String] { all.withLock { $0 } }
    }

    private func run(
        _ script: String, onLine: @escaping @Sendable (String) throws -> Void = { _ in }
    ) async throws -> (ToolRun.End, [String]) {
        let folder = try TemporaryFolder()
        let lines = Lines()
        let run = ToolRun(
            program: "/bin/sh", arguments: ["-c", script], folder: folder.path, environment: ["PATH": "/usr/bin:/bin"])
        let end = try await run.run(
            onLine: { stream, line in
                lines.add("\(stream) \(line)")
                try onLine(line)
            }, onTick: {})
        return (end, lines.found)
    }

    @Test func linesOfBothStreamsAreRead() async throws {
        let (end, lines) = try await run("echo a; echo b >&2; printf c; exit 3")
        #expect(end == .exited(3))
        #expect(Set(lines) == ["output a", "errors b", "output c"])
    }

    /// Of every length: strings end at their end, whatever is behind them in memory.
    @Test func programsGetTheVariables() async throws {
        let variables = Dictionary(
            uniqueKeysWithValues: (0..<300).map { ("VARIABLE_\($0)", String(repeating: "x", count: $0)) })
        let folder = try TemporaryFolder()
        let lines = Lines()
        let run = ToolRun(program: "/usr/bin/env", arguments: [], folder: folder.path, environment: variables)
        let end = try await run.run(onLine: { _, line in lines.add(line) }, onTick: {})
        #expect(end == .exited(0))
        #expect(Set(lines.found) == Set(variables.map { "\($0.key)=\($0.value)" }))
    }

    /// A program can end while what it wrote is still in the pipe.
    @Test func nothingIsLostWhenAProgramEndsAtOnce() async throws {
        for _ in 0..<20 {
            let (_, lines) = try await run("seq 1 5000; echo last >&2")
            #expect(lines.count == 5001)
            #expect(lines.contains("output 5000") && lines.contains("errors last"))
        }
    }

    @Test func signalsAreReported() async throws {
        #expect(try await run("kill -9 $$").0 == .killed(signal: 9))
    }

    private struct Stop: Error {}

    @Test func errorOfALineEndsTheProgram() async throws {
        await #expect(throws: Stop.self) {
            _ = try await run("echo go; exec sleep 1000") { line in if line == "go" { throw Stop() } }
        }
    }

    @Test func cancellationEndsTheProgram() async throws {
        let started = Lines()
        let task = Task {
            try await run("echo go; exec sleep 1000") { started.add($0) }
        }
        _ = try await eventually { !started.found.isEmpty }
        task.cancel()
        _ = await task.result
    }

    @Test func missingProgramIsAnError() async throws {
        let run = ToolRun(program: "/nonexistent", arguments: [], folder: "/", environment: [:])
        await #expect(throws: (any Error).self) { _ = try await run.run(onLine: { _, _ in }, onTick: {}) }
    }
}
