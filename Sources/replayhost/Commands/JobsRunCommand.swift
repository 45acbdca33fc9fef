import ArchiveStore
import ArgumentParser
import CommandSupport

/// `replayhost jobs run`
struct JobsRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run all waiting jobs.",
        discussion: """
            After Ctrl-C, the rest stay waiting. You can run this beside a server; each job runs once.

            Example:
              replayhost jobs run
            """)

    @OptionGroup var pdf: PDFOption
    @OptionGroup var common: CommonOptions

    func run() throws {
        common.noteStore()
        var store = try common.openStoreToChange()
        store.readsPDFsWithoutSandbox = pdf.isGiven
        let interrupts = Interrupts(isInstalled: true)
        let runner = JobRunner(store)
        var statuses: [ExitStatus] = []
        var hasImported: Bool
        try store.verifications.forgetChanged()
        repeat {
            hasImported = false
            try store.jobs.queueNew { interrupts.wereReceived }
            while let job = try runNext(runner, interrupts) {
                common.tell(job, JobText.line(job))
                statuses.append(Self.status(of: job))
                hasImported = hasImported || job.kind == .import && job.state == .done
            }
            // What a job imported is indexed and verified too.
        } while hasImported && !interrupts.wereReceived
        if interrupts.wereReceived { throw ExitStatus.interrupted }
        noteRemaining(store, hasRunSome: !statuses.isEmpty)
        try ExitStatus.throwUnlessDone(statuses)
    }

    private func runNext(_ runner: JobRunner, _ interrupts: Interrupts) throws -> Job? {
        var line: ProgressLine?
        defer { line?.clear() }
        return try runner.runNext {
            interrupts.wereReceived ? "interrupted" : nil
        } progress: { job, done in
            if line == nil { line = ProgressLine(name: job.subject, isShown: !common.quiet && !common.json) }
            line?.show(Self.progress(of: job.kind, done, of: job.total))
        }
    }

    /// The progress of a job, in the words of its kind.
    static func progress(of kind: Job.Kind, _ done: UInt64, of total: UInt64?) -> ImportProgress {
        switch kind {
        case .import, .hash: .copying(done: done, total: total)
        case .text: .indexing(done: done, total: total ?? 0)
        case .verify: .checking(done: done, total: total ?? 0)
        }
    }

    /// Only failed jobs make this command fail, not those paused or cancelled meanwhile.
    private static func status(of job: Job) -> ExitStatus {
        job.state == .failed ? .failed : .done
    }

    private func noteRemaining(_ store: ArchiveStore, hasRunSome: Bool) {
        guard let left = try? store.jobs.all(in: Job.State.allCases.filter { !$0.isOver }, limit: 1000),
            !left.isEmpty
        else {
            if !hasRunSome { common.note("No jobs are waiting.") }
            return
        }
        for job in left.prefix(10) { common.note("not run: \(JobText.line(job))") }
        if left.count > 10 { common.note("and \(left.count - 10) more; see `replayhost jobs`") }
    }
}
