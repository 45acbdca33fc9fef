/// What the program tells its caller. Thrown by a command that has said everything already.
enum ExitStatus: Int32, Error, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 2
    case notFound = 3
    case damaged = 4
    case storeUnusable = 5
    case portInUse = 6
    case interrupted = 130

    /// Of several inputs the first present of these is the answer.
    private static let precedence: [ExitStatus] = [
        .interrupted, .storeUnusable, .portInUse, .damaged, .failed, .notFound, .done,
    ]

    static func combined(_ statuses: [ExitStatus]) -> ExitStatus {
        precedence.first { statuses.contains($0) } ?? (statuses.isEmpty ? .done : .failed)
    }

    /// Ends a command that did several things, unless all went well.
    static func throwUnlessDone(_ statuses: [ExitStatus]) throws {
        let status = combined(statuses)
        if status != .done { throw status }
    }
}
