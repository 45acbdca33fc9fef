import Dispatch
import NIOPosix

/// The threads on which the router waits for disks and databases, so that no event loop does.
struct BlockingReads: Sendable {
    let threads: NIOThreadPool

    /// For what takes a moment: a row of the catalog, a small file.
    func callAsFunction<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await threads.runIfActive(body)
    }

    /// For what can take minutes (checking an upload, reading a whole index): on threads of its own, since the pool has few and
    /// everything else is waiting for them.
    func long<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Self.longWork.async { continuation.resume(with: Result(catching: body)) }
        }
    }

    private static let longWork = DispatchQueue(label: "long work", attributes: .concurrent)
}
