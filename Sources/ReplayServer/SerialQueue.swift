/// Runs operations one after the other, in the order of their calls.
package actor SerialQueue {
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init() {}

    package func run<Value: Sendable, Failure: Error>(
        _ body: @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if isBusy { await withCheckedContinuation { waiting.append($0) } }
        isBusy = true
        defer {
            if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
        }
        return try await body()
    }
}
