import Dispatch
import NIOPosix

/// Runs blocking work, such as reading files and databases, outside event loops and the threads of tasks.
package struct BlockingWork: Sendable {
    package init() {}

    /// Runs short work: reading a row of the catalog or a small file.
    package func callAsFunction<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await NIOThreadPool.singleton.runIfActive(body)
    }

    /// Runs a part of long work that ends soon, such as reading the next bytes of a body. As many run at once as there are
    /// processors, and more while some wait for a disk.
    package func step<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Self.steps.async { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Runs work that can take minutes, such as checking an upload, on a thread of its own. In a concurrent queue, Dispatch
    /// runs only as many blocks at once as there are processors, and a capture would wait for searches of large indexes.
    package func long<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await long { _ in try body() }
    }

    /// Runs long work that can be cancelled.
    ///
    /// - Parameter body: Its argument returns whether the task was cancelled.
    package func long<Value: Sendable>(
        _ body: @escaping @Sendable (_ isCancelled: () -> Bool) throws -> Value
    ) async throws -> Value {
        let cancelled = StopSignal()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // One of up to 255 threads that serial queues share.
                DispatchQueue(label: "long work").async {
                    continuation.resume(with: Result { try body { cancelled.isRaised } })
                }
            }
        } onCancel: {
            cancelled.raise()
        }
    }

    private static let steps = DispatchQueue(label: "steps", attributes: .concurrent)
}
