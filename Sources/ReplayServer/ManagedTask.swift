/// Work that goes on after the call that began it has returned: what `start` begins and `stop` ends. Its owner awaits it.
///
/// The one place where a task has no parent.
struct ManagedTask<Value: Sendable>: Sendable {
    private let task: Task<Value, any Error>

    init(_ body: @escaping @Sendable () async throws -> Value) {
        task = Task { try await body() }
    }

    /// What it comes to.
    var value: Value {
        get async throws { try await task.value }
    }

    /// Waits until it is over.
    func finish() async { _ = await task.result }

    /// Cancels it, and waits until it is over.
    func end() async {
        task.cancel()
        await finish()
    }
}
