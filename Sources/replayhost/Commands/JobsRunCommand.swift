import ArchiveStore
import ArgumentParser

/// `replayhost jobs run`
struct JobsRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the jobs that wait, until none is left.",
        discussion: """
            Ctrl-C leaves the rest waiting. A running server works on the same jobs; each is done once.

            Example:
              replayhost jobs run
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        common.sayWhichStore()
        let store = try common.openStoreToChange()
        let interrupts = Interrupts(isInstalled: true)
        let runner = JobRunner(store)
        var statuses: [ExitStatus] = []
        while let job = try runNext(runner, interrupts) {
            common.tell(job, JobText.line(job))
            statuses.append(Self.status(of: job))
        }
        if interrupts.happened { throw ExitStatus.interrupted }
        sayWhatIsLeft(store, hasRunSome: !statuses.isEmpty)
        try ExitStatus.throwUnlessDone(statuses)
    }

    private func runNext(_ runner: JobRunner, _ interrupts: Interrupts) throws -> Job? {
        var line: ProgressLine?
        defer { line?.clear() }
        return try runner.runNext {
            interrupts.happened ? "interrupted" : nil
        } progress: { job, done in
            if line == nil { line = ProgressLine(name: job.subject, isShown: !common.quiet && !common.json) }
            line?.show(.copying(done: done, total: job.total))
        }
    }

    /// Somebody who pauses or cancels a job meanwhile has not made this command fail.
    private static func status(of job: Job) -> ExitStatus {
        job.state == .failed ? .failed : .done
    }

    private func sayWhatIsLeft(_ store: ArchiveStore, hasRunSome: Bool) {
        guard let left = try? store.jobs.all(in: Job.State.allCases.filter { !$0.isOver }, limit: 1000),
            !left.isEmpty
        else {
            if !hasRunSome { common.remark("nothing waits") }
            return
        }
        for job in left.prefix(10) { common.remark("left: \(JobText.line(job))") }
        if left.count > 10 { common.remark("and \(left.count - 10) more: replayhost jobs") }
    }
}
