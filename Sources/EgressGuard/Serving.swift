import NIOCore
import Synchronization

/// The connections that a server accepts, each served in a task of its own.
///
/// A connection that is accepted is always served, even if only to be closed: one that waits in a sequence whose reader is
/// cancelled would be dropped while it's open, which ends the program (`NIOAsyncWriter`).
final class Connections<Client: Sendable>: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var count = 0
        var isOver = false
    }

    private let serve: @Sendable (Client) async -> Void
    private let state = Mutex(State())

    init(_ serve: @escaping @Sendable (Client) async -> Void) { self.serve = serve }

    /// Serves a connection, until it ends or all are ended.
    func begin(_ client: Client) {
        state.withLock { state in
            let number = state.count
            state.count += 1
            let task = Task { [self] in
                await serve(client)
                _ = self.state.withLock { $0.tasks.removeValue(forKey: number) }
            }
            if state.isOver { task.cancel() }
            state.tasks[number] = task
        }
    }

    /// Runs the body while a server accepts connections. After it, the server and all connections are closed.
    func run<Result: Sendable>(
        on server: any Channel, while body: @Sendable () async throws -> Result
    ) async throws -> Result {
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        try? await server.close()
        let tasks = state.withLock { state in
            state.isOver = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        return try result.get()
    }
}
