import Dispatch
import Synchronization

/// Work that waits for disks, away from the threads on which tasks run.
enum Blocking {
    /// - Parameter body: Is given a way to ask whether the task was cancelled.
    static func run<Value: Sendable>(
        _ body: @escaping @Sendable (_ isCancelled: () -> Bool) throws -> Value
    ) async throws -> Value {
        let cancelled = Flag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.async { continuation.resume(with: Result { try body { cancelled.isRaised } }) }
            }
        } onCancel: {
            cancelled.raise()
        }
    }

    private static let queue = DispatchQueue(label: "replayhost", attributes: .concurrent)
}

private final class Flag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
}
