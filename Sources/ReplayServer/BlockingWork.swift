import Dispatch
import NIOPosix

/// Work that waits for disks and databases, away from event loops and from the threads on which tasks run.
package struct BlockingWork: Sendable {
    package init() {}

    /// For what takes a moment: a row of the catalog, a small file.
    func callAsFunction<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await NIOThreadPool.singleton.runIfActive(body)
    }

    /// For what can take minutes (checking an upload, reading a whole index): on threads of its own, since the pool has few and
    /// everything else is waiting for them.
    package func long<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await long { _ in try body() }
    }

    /// The same for work that can end early.
    ///
    /// - Parameter body: Is given a way to ask whether the task was cancelled.
    package func long<Value: Sendable>(
        _ body: @escaping @Sendable (_ isCancelled: () -> Bool) throws -> Value
    ) async throws -> Value {
        let cancelled = StopSignal()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Self.longWork.async { continuation.resume(with: Result { try body { cancelled.isRaised } }) }
            }
        } onCancel: {
            cancelled.raise()
        }
    }

    private static let longWork = DispatchQueue(label: "long work", attributes: .concurrent)
}
