/// Work that is given up after a time.
enum Deadline {
    /// Returns the result of the body; `nil` if it isn't there in time.
    static func run<Result: Sendable>(
        seconds: Double, _ body: @escaping @Sendable () async -> Result
    ) async -> Result? {
        await withTaskGroup(of: Result?.self) { group in
            group.addTask { await body() }
            group.addTask {
                try? await Task.sleep(for: .seconds(seconds))
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }
}
