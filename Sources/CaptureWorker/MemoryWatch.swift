import Foundation
import Synchronization

/// Ends the largest process of an attempt whenever all of its processes together take more memory than they may.
///
/// Of a browser, that is usually the process of one page or frame, so that the rest of the page can still be saved.
final class MemoryWatch: Sendable {
    private let limits: RecordingLimits
    private let state = Atomic(false)

    init(_ limits: RecordingLimits) { self.limits = limits }

    /// Whether it has ended a process.
    var hasEnded: Bool { state.load(ordering: .relaxed) }

    /// Runs the body.
    ///
    /// - Throws: What the body throws; `ToolFailure` `tooLarge` if this process is the largest, or if the body failed after another
    ///   one was ended.
    func during<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        do {
            return try await withThrowingTaskGroup(of: Result.self) { group in
                group.addTask { try await body() }
                group.addTask {
                    while true {
                        try await Task.sleep(for: Self.interval)
                        try self.check()
                    }
                }
                defer { group.cancelAll() }
                guard let result = try await group.next() else { throw CancellationError() }
                return result
            }
        } catch let failure as ToolFailure where hasEnded && failure.code != .tooLarge {
            throw ToolFailure(.tooLarge, "\(limits.memoryFailure.message): \(failure.message)")
        }
    }

    private func check() throws {
        let tree = ProcessTree(of: getpid())
        guard tree.bytes > limits.memory, let largest = tree.members.first else { return }
        guard largest.id != getpid() else { throw limits.memoryFailure }
        state.store(true, ordering: .relaxed)
        kill(largest.id, SIGKILL)
    }

    /// A page can fill a gigabyte in half a second.
    static let interval = Duration.milliseconds(100)
}

extension RecordingLimits {
    package var memoryFailure: ToolFailure {
        ToolFailure(.tooLarge, "it needed more than \(memory / 1_000_000) MB of memory, the limit in the configuration")
    }
}
