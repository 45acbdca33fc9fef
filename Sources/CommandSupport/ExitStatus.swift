/// An exit code of the program. Commands throw it after they have reported their errors.
package enum ExitStatus: Int32, Error, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 2
    case notFound = 3
    case damaged = 4
    case storeUnusable = 5
    case portInUse = 6
    /// Accepted, and done when the server runs; or to be tried again later. `EX_TEMPFAIL` of sysexits(3).
    case keptForLater = 75
    case interrupted = 130

    /// Most important first.
    private static let precedence: [ExitStatus] = [
        .interrupted, .storeUnusable, .portInUse, .damaged, .failed, .notFound, .usage, .keptForLater, .done,
    ]

    /// Returns the most important of the statuses of several inputs.
    package static func combined(_ statuses: [ExitStatus]) -> ExitStatus {
        precedence.first { statuses.contains($0) } ?? (statuses.isEmpty ? .done : .failed)
    }

    /// Throws the most important of several statuses, unless all are `done`.
    package static func throwUnlessDone(_ statuses: [ExitStatus]) throws {
        let status = combined(statuses)
        if status != .done { throw status }
    }
}
