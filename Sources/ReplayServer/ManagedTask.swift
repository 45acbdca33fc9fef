/// An unstructured task whose owner awaits or cancels it.
package struct ManagedTask<Value: Sendable>: Sendable {
    private let task: Task<Value, any Error>

    package init(_ body: @escaping @Sendable () async throws -> Value) {
        task = Task { try await body() }
    }

    /// The result.
    package var value: Value {
        get async throws { try await task.value }
    }

    /// Waits until the task has finished.
    package func finish() async { _ = await task.result }

    /// Cancels the task and waits until it has finished.
    package func end() async {
        task.cancel()
        await finish()
    }
}
