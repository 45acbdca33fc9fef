import ArchiveStore
import ArgumentParser
import Foundation

/// `replayhost jobs`
struct JobsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "Show long work: what waits, what runs, what became of it.",
        discussion: """
            Imports and the hashing of linked files are jobs. They outlive the program: a running server does those that \
            wait, `replayhost jobs run` does them now.

            Examples:
              replayhost jobs --all
              replayhost jobs pause 12
              replayhost jobs run
            """,
        subcommands: [
            JobsListCommand.self, JobsPauseCommand.self, JobsResumeCommand.self, JobsCancelCommand.self,
            JobsRetryCommand.self, JobsDismissCommand.self, JobsRunCommand.self,
        ],
        defaultSubcommand: JobsListCommand.self)
}

/// `replayhost jobs list`
struct JobsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show the jobs that run, wait or have failed.",
        discussion: """
            Example:
              replayhost jobs list --all --json
            """)

    @Flag(name: .long, help: "Also those that are done or cancelled (the last 1000).")
    var all = false

    @OptionGroup var common: CommonOptions

    func run() throws {
        common.sayWhichStore()
        let store = try common.openStoreIfAny()
        // Otherwise a process that was killed would seem to be working.
        if let store, !store.isReadOnly { try store.jobs.requeueOrphaned() }
        let states = Job.State.allCases.filter { all || !$0.isOver || $0 == .failed }
        let jobs = try store?.jobs.all(in: states, limit: Self.jobsMax) ?? []
        if common.json {
            for job in jobs { Terminal.write(Terminal.json(job)) }
            return
        }
        guard let store, !jobs.isEmpty else {
            return common.remark(all ? "no jobs yet" : "nothing runs, nothing waits, nothing failed")
        }
        var table = Table(
            ["ID", "KIND", "STATE", "DONE", "FILE", "ARCHIVE", "SINCE", "REASON"],
            leftOut: ["SINCE", "ARCHIVE", "DONE"], cut: ["FILE", "REASON"])
        for job in jobs {
            table.add([
                "\(job.id)", job.kind.rawValue, job.state.rawValue, JobText.progress(job),
                String(Terminal.safe(job.subject).prefix(40)), job.archiveID?.text ?? "",
                RFC3339.text(of: job.finishedAt ?? job.startedAt ?? job.createdAt), Terminal.safe(job.reason ?? ""),
            ])
        }
        for line in table.lines() { Terminal.write(line) }
        if jobs.count == Self.jobsMax { common.remark("only the first \(Self.jobsMax) are shown") }
        JobText.sayWhoRuns(jobs, store, common)
    }

    private static let jobsMax = 2000
}

/// A job in words.
enum JobText {
    /// How much of it is done.
    static func progress(_ job: Job) -> String {
        guard let total = job.total else { return job.done == 0 ? "" : Terminal.size(job.done) }
        guard total > 0, job.state != .done else { return Terminal.size(total) }
        return "\(Terminal.percent(job.done, of: total)) % of \(Terminal.size(total))"
    }

    /// One line that says what became of it.
    static func line(_ job: Job) -> String {
        let reason = job.reason.map { ": \($0)" } ?? ""
        return Terminal.safe("job \(job.id) (\(job.kind.rawValue) \(job.subject)) is \(job.state.rawValue)\(reason)")
    }

    /// Jobs that wait and nobody there to run them.
    static func sayWhoRuns(_ jobs: [Job], _ store: ArchiveStore, _ common: CommonOptions) {
        let waiting = jobs.filter { $0.state == .waiting }.count
        guard waiting > 0, ServerFile.running(layout: store.layout) == nil else { return }
        common.remark(
            "\(Terminal.count(waiting, "job waits", "jobs wait")): `replayhost serve` runs them while it runs, "
                + "`replayhost jobs run` runs them now")
    }
}

/// What `pause`, `resume`, `cancel`, `retry` and `dismiss` have in common.
struct JobsArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("Numbers of jobs.", valueName: "id"))
    var ids: [Int64]

    @OptionGroup var common: CommonOptions

    fileprivate func change(_ change: JobChange) throws {
        var changed: [Job] = []
        try forEach { store, id in
            let job = try store.jobs.change(id, change)
            common.tell(job, JobText.line(job))
            changed.append(job)
        } finally: { store in
            JobText.sayWhoRuns(changed, store, common)
        }
    }

    /// Does something to each job; where that fails for one, it goes on with the next.
    fileprivate func forEach(
        _ body: (ArchiveStore, Int64) throws -> Void, finally: (ArchiveStore) -> Void = { _ in }
    ) throws {
        let store = try common.openStoreToChange()
        try store.jobs.requeueOrphaned()
        var statuses: [ExitStatus] = []
        for id in ids {
            do {
                try body(store, id)
                statuses.append(.done)
            } catch {
                let fault = Fault(error)
                fault.report(asJSON: common.json)
                statuses.append(fault.status)
            }
        }
        finally(store)
        try ExitStatus.throwUnlessDone(statuses)
    }
}

/// `replayhost jobs pause ID…`
struct JobsPauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Stop jobs for now.",
        discussion: """
            A hashing goes on where it was, as long as the server that runs it does; an import begins again.

            Example:
              replayhost jobs pause 12
            """)

    @OptionGroup var jobs: JobsArguments

    func run() throws { try jobs.change(.pause) }
}

/// `replayhost jobs resume ID…`
struct JobsResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let paused jobs go on.",
        discussion: """
            Example:
              replayhost jobs resume 12
            """)

    @OptionGroup var jobs: JobsArguments

    func run() throws { try jobs.change(.resume) }
}

/// `replayhost jobs cancel ID…`
struct JobsCancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Stop jobs for good.",
        discussion: """
            An archive whose hashing is cancelled stays, and is not hashed.

            Example:
              replayhost jobs cancel 12 13
            """)

    @OptionGroup var jobs: JobsArguments

    func run() throws { try jobs.change(.cancel) }
}

/// `replayhost jobs retry ID…`
struct JobsRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Have failed or cancelled jobs done again.",
        discussion: """
            Example:
              replayhost jobs retry 12
            """)

    @OptionGroup var jobs: JobsArguments

    func run() throws { try jobs.change(.retry) }
}

/// `replayhost jobs dismiss ID…`
struct JobsDismissCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dismiss",
        abstract: "Forget jobs that are over, such as failed ones.",
        discussion: """
            Example:
              replayhost jobs dismiss 12
            """)

    @OptionGroup var jobs: JobsArguments

    private struct Dismissed: Encodable {
        let id: Int64
        let dismissed: Bool
    }

    func run() throws {
        try jobs.forEach { store, id in
            try store.jobs.forget(id)
            jobs.common.tell(Dismissed(id: id, dismissed: true), "job \(id) is forgotten")
        }
    }
}
