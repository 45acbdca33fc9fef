/// An action on a job.
package enum JobChange: String, Sendable, Hashable, CaseIterable {
    case pause
    case resume
    case cancel
    case retry

    /// The states in which the action is possible.
    var possibleStates: [Job.State] {
        switch self {
        case .pause: [.waiting, .running]
        case .resume: [.paused]
        case .cancel: [.waiting, .running, .paused]
        case .retry: [.failed, .cancelled]
        }
    }

    /// The job's state after the action.
    var state: Job.State {
        switch self {
        case .pause: .paused
        case .resume, .retry: .waiting
        case .cancel: .cancelled
        }
    }

    /// The reason to record for that state.
    func reason(for kind: Job.Kind) -> String? {
        switch self {
        case .pause: "paused by user"
        case .cancel: kind == .import ? Self.nothingAdded : "cancelled by user"
        case .resume, .retry: nil
        }
    }

    static let nothingAdded = "nothing was added"

    /// - Parameter isRepeatable: Whether the job can be started again.
    /// - Throws: `StoreError` `notPossible`.
    func check(_ job: Job, isRepeatable: Bool) throws(StoreError) {
        guard possibleStates.contains(job.state) else {
            throw StoreError(
                .notPossible, "can't \(rawValue) job \(job.id): it is \(job.state.displayName)",
                hint: "only \(possibleJobs) can be \(participle)")
        }
        guard isRepeatable || self == .cancel else {
            throw StoreError(
                .notPossible,
                "can't \(rawValue) job \(job.id): its input can't be read a second time",
                hint: self == .pause ? "let it finish, or cancel it" : "add the file again")
        }
    }

    private var participle: String {
        switch self {
        case .pause: "paused"
        case .resume: "resumed"
        case .cancel: "cancelled"
        case .retry: "retried"
        }
    }

    private var possibleJobs: String {
        switch self {
        case .pause: "queued and running jobs"
        case .resume: "paused jobs"
        case .cancel: "queued, running and paused jobs"
        case .retry: "failed and cancelled jobs"
        }
    }
}

extension Job.State {
    var displayName: String { self == .waiting ? "queued" : rawValue }
}
