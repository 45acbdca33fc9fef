import Foundation
import Subprocess

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// One run of a program, whose output is read line by line while it runs.
///
/// The program is in the process group of this one, and ends with it.
package struct ToolRun {
    let program: String
    let arguments: [String]
    /// The folder in which the program runs.
    let folder: String
    let environment: [String: String]

    /// Where a line comes from.
    package enum Stream: Sendable {
        case output, errors
    }

    /// How a program ended.
    package enum End: Sendable, Hashable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// Runs the program until it ends.
    ///
    /// - Parameters:
    ///   - onLine: Called for each line of output; throws to end the program.
    ///   - onTick: Called twice a second; throws to end the program.
    /// - Throws: What the closures throw; `ToolFailure` if the program can't be started, or prints too much.
    func run(
        onLine: @escaping @Sendable (Stream, String) throws -> Void,
        onTick: @escaping @Sendable () throws -> Void
    ) async throws -> End {
        var options = PlatformOptions()
        options.teardownSequence = [.send(signal: .interrupt, allowedDurationToNextStep: .seconds(2))]
        // As C strings: the library takes them as they are.
        let variables = environment.map { Array("\($0.key)=\($0.value)\0".utf8) }
        let result = try await Subprocess.run(
            .path(FilePath(program)), arguments: Arguments(arguments), environment: .custom(variables),
            workingDirectory: FilePath(folder), platformOptions: options, input: .none, output: .sequence,
            error: .sequence
        ) { execution in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await Self.read(execution.standardOutput) { try onLine(.output, $0) }
                    return true
                }
                group.addTask {
                    try await Self.read(execution.standardError) { try onLine(.errors, $0) }
                    return true
                }
                group.addTask {
                    while !Task.isCancelled {
                        try await Task.sleep(for: .milliseconds(500))
                        try onTick()
                    }
                    return false
                }
                var streams = 2
                while streams > 0, let isStream = try await group.next() { streams -= isStream ? 1 : 0 }
                group.cancelAll()
                // The last task ends by its cancellation.
                while await group.nextResult() != nil {}
            }
        }
        switch result.terminationStatus {
        case .exited(let code): return .exited(code)
        case .signaled(let number): return .killed(signal: number)
        }
    }

    private static func read(
        _ output: SubprocessOutputSequence, _ onLine: (String) throws -> Void
    ) async throws {
        var lines = OutputLines()
        for try await buffer in output {
            try buffer.withUnsafeBytes { bytes throws in
                for line in try lines.add(bytes) { try onLine(line) }
            }
        }
        if let line = lines.finish() { try onLine(line) }
    }
}

/// Splits output into lines, with limits for a line and for all of them.
package struct OutputLines {
    private var line: [UInt8] = []
    private var total = 0

    /// The rest of a longer line is dropped.
    package static let lineBytesMax = 64 << 10
    /// Programs print a few hundred bytes for each fragment of a video.
    static let bytesMax = 64 << 20

    package init() {}

    /// Returns the lines that the bytes complete, without empty ones.
    ///
    /// - Throws: `ToolFailure` if there is too much output.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) throws -> [String] {
        total += bytes.count
        guard total <= Self.bytesMax else {
            throw ToolFailure(.toolFailed, "the tool printed more than \(Self.bytesMax >> 20) MB")
        }
        var lines: [String] = []
        var rest = bytes
        // Tools can print a lot: `memchr` is much faster than a search by element.
        while let start = rest.baseAddress, let end = memchr(start, 0x0A, rest.count) {
            let count = UnsafeRawPointer(start).distance(to: UnsafeRawPointer(end))
            append(UnsafeRawBufferPointer(rebasing: rest[..<count]))
            if let line = finish() { lines.append(line) }
            rest = UnsafeRawBufferPointer(rebasing: rest[(count + 1)...])
        }
        append(rest)
        return lines
    }

    /// Returns the line that has no end yet; `nil` if it's empty.
    package mutating func finish() -> String? {
        defer { line.removeAll(keepingCapacity: true) }
        if line.last == 0x0D { line.removeLast() }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard line.count < Self.lineBytesMax else { return }
        line.append(contentsOf: bytes.prefix(Self.lineBytesMax - line.count))
    }
}
