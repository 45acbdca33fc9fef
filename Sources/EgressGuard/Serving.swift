import NIOCore

extension NIOAsyncChannel where Inbound: Sendable, Outbound == Never {
    /// Accepts connections while the body runs. After it, all are closed.
    ///
    /// - Parameter serve: Called for each connection, in a task of its own.
    func accepting<Result: Sendable>(
        _ serve: @escaping @Sendable (Inbound) async -> Void, while body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                do {
                    try await executeThenClose { clients in
                        try await withThrowingDiscardingTaskGroup { connections in
                            for try await client in clients { connections.addTask { await serve(client) } }
                        }
                    }
                } catch is CancellationError {
                    // The body decides what its cancellation means.
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
}
