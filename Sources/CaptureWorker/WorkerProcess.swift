import Foundation
import Subprocess
import Synchronization

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// A worker: a process group of its own for one attempt.
///
/// It ends with the server, whose end closes the worker's standard input.
package struct WorkerProcess: Sendable {
    private let program: String
    private let isolation: Isolation
    /// The session folder, in which the worker and its tools run.
    private let folder: String
    /// A worker that says nothing for longer than this is ended.
    private let silenceMax: Duration
    /// The memory of the worker and all of its tools, in bytes, above which they are ended. The worker keeps a lower limit itself.
    private let memoryMax: UInt64
    private let file: String?

    /// - Parameter file: The absolute path of a file that the worker reads besides those in its folder; `nil` for none.
    package init(
        program: String, isolation: Isolation, folder: String, silenceMax: Duration, memoryMax: UInt64,
        reading file: String? = nil
    ) {
        (self.program, self.isolation, self.folder, self.silenceMax) = (program, isolation, folder, silenceMax)
        (self.memoryMax, self.file) = (memoryMax, file)
    }

    /// How a worker ended.
    package enum End: Sendable {
        /// By itself, with what it achieved; `nil` if it didn't say.
        case exited(WorkerResult?)
        /// A signal ended it, its exit code isn't 0, or it was ended because of its output.
        case died(String)
        /// It was ended because it said nothing.
        case silent
        /// It was ended because of its memory.
        case tooLarge
    }

    private struct Silence: Error {}
    private struct TooLarge: Error {}

    /// When the worker was last heard, and the result that it sent. The time that the computer sleeps doesn't count.
    private final class Heard: Sendable {
        private let state = Mutex((at: SuspendingClock.now, result: WorkerResult?.none))

        var silence: Duration { state.withLock { $0.at }.duration(to: .now) }
        var result: WorkerResult? { state.withLock { $0.result } }

        func note() { state.withLock { $0.at = .now } }
        func note(_ result: WorkerResult) { state.withLock { $0.result = result } }
    }

    /// Runs the worker. When the task is cancelled, the whole group gets SIGTERM, and SIGKILL after 3 seconds.
    ///
    /// - Parameters:
    ///   - onMessage: Called for each message, except the result.
    ///   - onError: Called for each line that the worker writes to standard error.
    package func run(
        onMessage: @escaping @Sendable (WorkerMessage) async -> Void, onError: @escaping @Sendable (String) -> Void
    ) async throws -> End {
        var options = PlatformOptions()
        // Also a process group of its own. Without a terminal, into which tools could type.
        options.createSession = true
        options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .seconds(3))]
        let group = Mutex<pid_t>(0)
        let heard = Heard()
        // Whatever a tool left running ends with the attempt.
        defer { group.withLock { if $0 > 1 { kill(-$0, SIGKILL) } } }
        do {
            let command = isolation.command(program, ["work"], in: folder, reading: file)
            let result = try await Subprocess.run(
                .path(FilePath(command.program)), arguments: Arguments(command.arguments),
                environment: .inherit.updating([Self.mark: folder]), workingDirectory: FilePath(folder),
                platformOptions: options, input: .inputWriter, output: .sequence, error: .sequence
            ) { execution in
                group.withLock { $0 = execution.processIdentifier.value }
                try await withThrowingTaskGroup(of: Bool.self) { tasks in
                    tasks.addTask {
                        for try await line in execution.standardOutput.strings() {
                            heard.note()
                            guard let message = try? JSONDecoder().decode(WorkerMessage.self, from: Data(line.utf8))
                            else {
                                continue
                            }
                            if let result = message.result {
                                heard.note(result)
                            } else {
                                await onMessage(message)
                            }
                        }
                        return true
                    }
                    tasks.addTask {
                        for try await line in execution.standardError.strings() { onError(line) }
                        return true
                    }
                    tasks.addTask {
                        while true {
                            try await Task.sleep(for: .milliseconds(500))
                            if heard.silence > silenceMax { throw Silence() }
                            let tree = ProcessTree(of: execution.processIdentifier.value)
                            if tree.bytes > memoryMax { throw TooLarge() }
                        }
                    }
                    var streams = 2
                    while streams > 0, let isStream = try await tasks.next() { streams -= isStream ? 1 : 0 }
                    tasks.cancelAll()
                    while await tasks.nextResult() != nil {}
                }
            }
            switch result.terminationStatus {
            case .exited(0): return .exited(heard.result)
            case .exited(let code): return .died("exit code \(code)")
            case .signaled(let number): return .died("signal \(number)")
            }
        } catch is Silence {
            return .silent
        } catch is TooLarge {
            return .tooLarge
        } catch let error as SubprocessError where error.code == .outputLimitExceeded {
            return .died("it printed a line that is too long")
        }
    }

    /// The variable by which the processes of a session are known; its value is the session folder.
    static let mark: Environment.Key = "REPLAYHOST_SESSION"

    /// Ends what is left of sessions: tools of a worker that was killed together with its server, and processes that left the
    /// worker's group.
    ///
    /// Only Linux tells the environment of a process.
    ///
    /// - Parameter folder: A session folder, or the folder of all.
    package static func endLeftovers(of folder: String) {
        #if os(Linux)
        let mark = "\(mark)=\(folder)"
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let id = pid_t(name), id != getpid(),
                let variables = FileManager.default.contents(atPath: "/proc/\(name)/environ"),
                String(decoding: variables, as: UTF8.self).split(separator: "\0").contains(where: { $0.hasPrefix(mark) }
                )
            else { continue }
            kill(id, SIGKILL)
        }
        #endif
    }
}
