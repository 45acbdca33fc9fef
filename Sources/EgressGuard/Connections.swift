import NIOCore
import Synchronization

/// The connections that a server accepts.
///
/// Each one is served, even if only to be closed: one that waits in a sequence whose reader is cancelled would be dropped while
/// it's open, which ends the program (`NIOAsyncWriter`).
final class Connections<Client: Sendable>: Sendable {
    private struct State {
        var waiting: [Client] = []
        var isOver = false
    }

    private let serve: @Sendable (Client) async -> Void
    private let state = Mutex(State())
    private let arrivals: AsyncStream<Void>
    private let arrive: AsyncStream<Void>.Continuation

    /// - Parameter serve: Called for each connection, in a task of its own.
    init(_ serve: @escaping @Sendable (Client) async -> Void) {
        self.serve = serve
        (arrivals, arrive) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Takes a connection that was accepted, or closes it if it's too late.
    func accept(_ channel: any Channel, _ open: () throws -> Client) throws {
        let isTaken = try state.withLock { state in
            guard !state.isOver else { return false }
            state.waiting.append(try open())
            return true
        }
        if isTaken { arrive.yield() } else { channel.close(promise: nil) }
    }

    /// Runs the body while a server accepts connections. After it, the server and all connections are closed.
    func run<Result: Sendable>(
        on server: any Channel, while body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await serving(while: body))
        } catch {
            result = .failure(error)
        }
        try? await server.close()
        return try result.get()
    }

    private func serving<Result: Sendable>(
        while body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { [self] in
                await withDiscardingTaskGroup { connections in
                    for await _ in arrivals {
                        for client in waiting() { connections.addTask { await self.serve(client) } }
                    }
                    for client in waiting(isOver: true) { connections.addTask { await self.serve(client) } }
                    connections.cancelAll()
                }
                return nil
            }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    /// Returns the connections that wait to be served.
    ///
    /// - Parameter isOver: Whether those that are accepted from now on are closed.
    private func waiting(isOver: Bool = false) -> [Client] {
        state.withLock { state in
            state.isOver = isOver
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
