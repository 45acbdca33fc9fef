/// What a person can do to a job.
package enum JobChange: String, Sendable, Hashable, CaseIterable {
    case pause
    case resume
    case cancel
    case retry

    /// The states that a job may be in for it.
    var possibleStates: [Job.State] {
        switch self {
        case .pause: [.waiting, .running]
        case .resume: [.paused]
        case .cancel: [.waiting, .running, .paused]
        case .retry: [.failed, .cancelled]
        }
    }

    /// The state that follows.
    var state: Job.State {
        switch self {
        case .pause: .paused
        case .resume, .retry: .waiting
        case .cancel: .cancelled
        }
    }

    /// What is kept as the reason of that state.
    var reason: String? {
        switch self {
        case .pause: "paused on request"
        case .cancel: "cancelled on request"
        case .resume, .retry: nil
        }
    }

    /// - Parameter isRepeatable: Whether the job can be begun again.
    /// - Throws: `StoreError` `notPossible`.
    func check(_ job: Job, isRepeatable: Bool) throws(StoreError) {
        guard possibleStates.contains(job.state) else {
            throw StoreError(
                .notPossible, "job \(job.id) is \(job.state.words), and only \(conditionWords) can be \(participle)")
        }
        guard isRepeatable || self == .cancel else {
            throw StoreError(
                .notPossible,
                "job \(job.id) reads what was sent to it once, so that it cannot be \(participle)",
                hint: self == .pause ? "let it end, or cancel it" : "send or import the file again")
        }
    }

    private var participle: String {
        switch self {
        case .pause: "paused"
        case .resume: "resumed"
        case .cancel: "cancelled"
        case .retry: "tried again"
        }
    }

    private var conditionWords: String {
        switch self {
        case .pause: "one that waits or runs"
        case .resume: "a paused one"
        case .cancel: "one that is not over"
        case .retry: "one that failed or was cancelled"
        }
    }
}

extension Job.State {
    /// After "it is".
    var words: String { self == .waiting ? "waiting to be run" : rawValue }
}
