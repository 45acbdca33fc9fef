/// A value that works on one piece after the other, each on a thread beside the caller's.
final class Lane<State: Sendable> {
    private var state: State
    private var running: LowPriority.Running<State>?

    init(_ state: State) {
        self.state = state
    }

    deinit { running?.wait() }

    /// Starts a piece of work when the one before is done.
    func add(_ work: @escaping @Sendable (inout State) -> Void) throws(WebArchiveError) {
        let before = try result()
        do {
            running = try LowPriority.start {
                var state = before
                work(&state)
                return state
            }
        } catch {
            throw error as? WebArchiveError ?? Self.lost
        }
    }

    /// Waits for the work, and returns the state.
    func result() throws(WebArchiveError) -> State {
        guard let running else { return state }
        do { state = try running.result() } catch { throw error as? WebArchiveError ?? Self.lost }
        self.running = nil
        return state
    }

    /// Waits for the work, and replaces the state.
    func restart(_ next: State) throws(WebArchiveError) {
        _ = try result()
        state = next
    }

    private static var lost: WebArchiveError {
        WebArchiveError(code: .io, problem: "a thread ended early", file: "this computer")
    }
}
