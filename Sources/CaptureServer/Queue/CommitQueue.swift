import Dispatch
import GRDB
import Synchronization

/// Commits the changes of several callers in one transaction, so that they share one flush to the disk.
///
/// Each change is a savepoint: one that fails doesn't undo the others. Callers continue once all is on the disk.
final class CommitQueue: Sendable {
    private struct Change: Sendable {
        /// Runs the change in a savepoint, and keeps its result.
        let run: @Sendable (Database) -> Void
        /// Passes the result to the caller, or the error of the whole transaction.
        let finish: @Sendable ((any Error)?) -> Void
    }

    private struct State {
        var changes: [Change] = []
        var isCommitting = false
    }

    private let pool: DatabasePool
    private let state = Mutex(State())
    private let thread = DispatchQueue(label: "commits")

    init(_ pool: DatabasePool) {
        self.pool = pool
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = Outcome<Value>()
            let change = Change(
                run: { database in outcome.set(Result { try Self.inSavepoint(database, body) }) },
                finish: { failure in continuation.resume(with: failure.map { .failure($0) } ?? outcome.result) })
            let isFirst = state.withLock { state in
                state.changes.append(change)
                defer { state.isCommitting = true }
                return !state.isCommitting
            }
            if isFirst { thread.async { self.commitAll() } }
        }
    }

    private static func inSavepoint<Value>(_ database: Database, _ body: (Database) throws -> Value) throws -> Value {
        var value: Value?
        try database.inSavepoint {
            value = try body(database)
            return .commit
        }
        guard let value else { throw DatabaseError(message: "the change was undone") }
        return value
    }

    private func commitAll() {
        while true {
            var changes = state.withLock { state in
                defer { state.changes = [] }
                state.isCommitting = !state.changes.isEmpty
                return state.changes
            }
            if changes.isEmpty { return }
            var failure: (any Error)?
            do {
                try pool.write { database in for change in changes { change.run(database) } }
            } catch {
                failure = error
                // What came meanwhile would wait as long again, and its callers wouldn't.
                if CaptureDatabase.isBusy(error) {
                    changes += state.withLock { state in
                        defer { state.changes = [] }
                        return state.changes
                    }
                }
            }
            for change in changes { change.finish(failure) }
        }
    }

    private final class Outcome<Value: Sendable>: Sendable {
        private let stored = Mutex<Result<Value, any Error>?>(nil)

        func set(_ result: Result<Value, any Error>) { stored.withLock { $0 = result } }

        var result: Result<Value, any Error> {
            stored.withLock { $0 } ?? .failure(DatabaseError(message: "the change wasn't made"))
        }
    }
}
