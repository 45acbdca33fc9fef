import ArchiveStore
import ArgumentParser
import CommandSupport
import Foundation

/// `replayhost jobs`
struct JobsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "Manage jobs: imports, the hashing of linked files, the indexing of text, and verifications.",
        discussion: """
            A running server runs waiting jobs. Without a server, use `replayhost jobs run`.

            Example:
              replayhost jobs --failed
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
        abstract: "List active jobs.",
        discussion: """
            Three or more active jobs of a kind are one line. Use --json to see each of them.

            Failed jobs stay in the list until you dismiss them.

            Examples:
              replayhost jobs list --failed
              replayhost jobs list --all --json
            """)

    @Flag(name: .long, help: "Also list failed jobs, and the last 1000 that were completed or cancelled.")
    var all = false

    @Flag(name: .long, help: "List failed jobs only.")
    var failed = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if all, failed { throw ValidationError("--all and --failed can't be combined; choose one") }
    }

    func run() throws {
        common.noteStore()
        let store = try common.openStoreIfAny()
        // Otherwise jobs of killed processes would be listed as running.
        if let store, !store.isReadOnly { try store.jobs.requeueOrphaned() }
        let states = Job.State.allCases.filter { failed ? $0 == .failed : all || !$0.isOver }
        let counts = all || failed || common.json ? [] : try JobText.manyJobs(store)
        let jobs = try store?.jobs.all(in: states, except: counts.map(\.kind), limit: Self.jobsMax) ?? []
        if common.json { return Terminal.writeJSON(each: jobs) }
        let failures = all || failed ? nil : try failures(in: store)
        guard let store, !jobs.isEmpty || !counts.isEmpty else {
            let none = all ? "No jobs yet." : failed ? "No failed jobs." : "No active jobs."
            return common.note([none, failures].compactMap { $0 }.joined(separator: " "))
        }
        for count in counts { Terminal.write(JobText.line(count)) }
        if !jobs.isEmpty { writeTable(jobs) }
        if let failures { common.note(failures) }
        JobText.noteWaiting(
            jobs.filter { $0.state == .waiting }.count + counts.reduce(0) { $0 + $1.waiting }, store, common)
    }

    private func writeTable(_ jobs: [Job]) {
        var table = Table(
            ["ID", "KIND", "STATE", "DONE", "FILE", "ARCHIVE", "SINCE", "REASON"],
            hideable: ["SINCE", "ARCHIVE", "DONE"], truncatable: ["FILE", "REASON"])
        for job in jobs {
            table.add([
                "\(job.id)", job.kind.rawValue, job.state.rawValue, JobText.progress(job),
                Terminal.title(job.subject), job.archiveID?.text ?? "",
                RFC3339.text(of: job.finishedAt ?? job.startedAt ?? job.createdAt),
                JobText.reason(job) ?? "",
            ])
        }
        table.write()
        if jobs.count == Self.jobsMax { common.note("Only the first \(Self.jobsMax) are shown.") }
    }

    /// Says how many jobs failed; `nil` if none did.
    private func failures(in store: ArchiveStore?) throws -> String? {
        let count = try store?.jobs.all(in: [.failed], limit: Self.jobsMax).count ?? 0
        return count > 0 ? "\(count) failed; see them with `replayhost jobs --failed`." : nil
    }

    private static let jobsMax = 2000
}

/// Formats jobs for the terminal.
enum JobText {
    /// Returns the percentage done and the total size.
    static func progress(_ job: Job) -> String {
        guard let total = job.total else { return job.done == 0 ? "" : Terminal.size(job.done) }
        guard total > 0, job.state != .done else { return Terminal.size(total) }
        return "\(Terminal.percent(job.done, of: total))% of \(Terminal.size(total))"
    }

    /// Returns the job with its state, such as "job 12 (import crawl.wacz): paused".
    static func line(_ job: Job) -> String {
        let reason = reason(job).map { " (\($0))" } ?? ""
        return "job \(job.id) (\(job.kind.rawValue) \(job.subject)): \(job.state.rawValue)\(reason)"
    }

    /// Returns the counts of the kinds that have many active jobs.
    static func manyJobs(_ store: ArchiveStore?) throws -> [JobCounts] {
        try store?.jobs.counts().filter { $0.active >= manyMin } ?? []
    }

    /// Returns the jobs of a kind as a line, such as "Verifying: 290 of 610 done, 1 running, 319 queued".
    static func line(_ counts: JobCounts) -> String {
        let activity =
            switch Job.Kind(rawValue: counts.kind) {
            case .import: "Importing"
            case .hash: "Hashing"
            case .text: "Indexing"
            case .verify: "Verifying"
            case nil: counts.kind
            }
        let states = [(counts.running, "running"), (counts.waiting, "queued"), (counts.paused, "paused")]
        let parts = states.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return "\(activity): \(counts.done) of \(counts.done + counts.active) done, \(parts.joined(separator: ", "))"
    }

    /// The number of jobs of a kind from which on they are one line.
    private static let manyMin = 3

    /// Returns the reason without the name of the file, which is shown beside it.
    static func reason(_ job: Job) -> String? {
        guard let reason = job.reason else { return nil }
        let name = ["\(job.subject): ", "\(job.subject)/"].first { reason.hasPrefix($0) } ?? ""
        return String(reason.dropFirst(name.count))
    }

    /// Tells how to run waiting jobs, unless a server runs them.
    static func noteWaiting(_ waiting: Int, _ store: ArchiveStore, _ common: CommonOptions) {
        guard waiting > 0, ServerFile.running(layout: store.layout) == nil else { return }
        common.note(
            "\(Terminal.count(waiting, "job is", "jobs are")) waiting for the server. "
                + "To run it now, use `replayhost jobs run`.")
    }
}

/// The jobs that a command changes.
struct JobsSelection {
    let ids: [Int64]
    let common: CommonOptions

    func change(_ change: JobChange) throws {
        var changed: [Job] = []
        try forEach { store, id in
            let job = try store.jobs.change(id, change)
            common.tell(job, JobText.line(job))
            changed.append(job)
        } finally: { store in
            JobText.noteWaiting(changed.filter { $0.state == .waiting }.count, store, common)
        }
    }

    /// Runs a closure for each job. After an error, continues with the next job.
    func forEach(
        _ body: (ArchiveStore, Int64) throws -> Void, finally: (ArchiveStore) -> Void = { _ in }
    ) throws {
        let store = try common.openStoreToChange()
        try store.jobs.requeueOrphaned()
        let statuses = common.statuses(of: ids) { id in
            try body(store, id)
            return .done
        }
        finally(store)
        try ExitStatus.throwUnlessDone(statuses)
    }
}

/// The arguments of `pause`, `resume` and `cancel`.
struct JobsArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("Job IDs.", valueName: "id"))
    var ids: [Int64] = []

    @Flag(name: .long, help: "All jobs for which this is possible.")
    var all = false

    @Option(name: .long, help: "With --all, the kind of the jobs.")
    var kind: Job.Kind?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if all, !ids.isEmpty { throw ValidationError("--all and job IDs can't be combined; choose one") }
        if !all, ids.isEmpty { throw ValidationError("no jobs are named; give their IDs, or --all") }
        if !all, kind != nil { throw ValidationError("--kind needs --all") }
    }

    fileprivate func change(_ change: JobChange, participle: String) throws {
        guard all else { return try JobsSelection(ids: ids, common: common).change(change) }
        let store = try common.openStoreToChange()
        try store.jobs.requeueOrphaned()
        let changed = try store.jobs.changeAll(change, kind: kind)
        common.tell(["changed": changed], "\(Terminal.count(changed, "job", "jobs")) \(participle)")
        if change == .resume { JobText.noteWaiting(changed, store, common) }
    }
}

extension Job.Kind: ExpressibleByArgument {}

/// `replayhost jobs pause`
struct JobsPauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause jobs.",
        discussion: """
            A paused import starts over. Hashing continues, unless the server was stopped in between.

            Examples:
              replayhost jobs pause 12
              replayhost jobs pause --all --kind verify
            """)

    @OptionGroup var jobs: JobsArguments

    func run() throws { try jobs.change(.pause, participle: "paused") }
}

/// `replayhost jobs resume`
struct JobsResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume paused jobs.",
        discussion: """
            Examples:
              replayhost jobs resume 12
              replayhost jobs resume --all --kind verify
            """)

    @OptionGroup var jobs: JobsArguments

    func run() throws { try jobs.change(.resume, participle: "resumed") }
}

/// `replayhost jobs cancel`
struct JobsCancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel jobs.",
        discussion: """
            If you cancel hashing, the archive stays in the library without a hash.

            Examples:
              replayhost jobs cancel 12
              replayhost jobs cancel --all --kind verify
            """)

    @OptionGroup var jobs: JobsArguments

    func run() throws { try jobs.change(.cancel, participle: "cancelled") }
}

/// `replayhost jobs retry ID…`
struct JobsRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Retry failed or cancelled jobs.",
        discussion: """
            Example:
              replayhost jobs retry 12
            """)

    @Argument(help: ArgumentHelp("Job IDs.", valueName: "id"))
    var ids: [Int64]

    @OptionGroup var common: CommonOptions

    func run() throws { try JobsSelection(ids: ids, common: common).change(.retry) }
}

/// `replayhost jobs dismiss ID…`
struct JobsDismissCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dismiss",
        abstract: "Remove finished, failed or cancelled jobs from the list.",
        discussion: """
            Examples:
              replayhost jobs dismiss 12
              replayhost jobs dismiss --failed
            """)

    @Argument(help: ArgumentHelp("Job IDs.", valueName: "id"))
    var ids: [Int64] = []

    @Flag(name: .long, help: "All failed jobs.")
    var failed = false

    @OptionGroup var common: CommonOptions

    private struct Dismissed: Encodable {
        let id: Int64
        let dismissed: Bool
    }

    func validate() throws {
        if failed, !ids.isEmpty { throw ValidationError("--failed and job IDs can't be combined; choose one") }
        if !failed, ids.isEmpty { throw ValidationError("no jobs are named; give their IDs, or --failed") }
    }

    func run() throws {
        guard failed else {
            return try JobsSelection(ids: ids, common: common).forEach { store, id in
                try store.jobs.forget(id)
                common.tell(Dismissed(id: id, dismissed: true), "job \(id): dismissed")
            }
        }
        let store = try common.openStoreToChange()
        let dismissed = try store.jobs.forgetAll(in: .failed)
        common.tell(["dismissed": dismissed], "\(Terminal.count(dismissed, "job", "jobs")) dismissed")
    }
}
