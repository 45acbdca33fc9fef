import ArchiveSignature
import ArchiveStore
import ArgumentParser
import CommandSupport
import Foundation
import WebArchive

/// `replayhost verify [ID|FILE…]`
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that archives are what they claim to be.",
        discussion: """
            Reads each file once, and compares everything in it with its checksums and hashes: the ZIP, the files in \
            it, every WARC record, the index and the page list. Then it checks the signature. Nothing is unpacked, and \
            nothing leaves your computer. After an interruption, the next run continues. docs/verify.md explains the \
            verdicts, and docs/findings.md each finding.

            The exit code is 4 if something doesn't agree.

            Examples:
              replayhost verify                   # all archives in the library
              replayhost verify crawl
              replayhost verify ./download.wacz   # a file that isn't in the library
            """)

    @Argument(help: ArgumentHelp("IDs of archives, or WACZ files; by default, all archives.", valueName: "id|file"))
    var inputs: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A PEM file with the certificates that signatures must lead to, instead of the system's.", valueName: "path"
        ))
    var trust: String?

    @OptionGroup var common: CommonOptions

    func run() throws {
        let interrupts = Interrupts(isInstalled: true)
        let roots = try trust.map { try TrustRoots(pemFile: $0) }
        var statuses: [ExitStatus] = []
        var summary = VerificationTally()
        for subject in try subjects(&summary) {
            do {
                let report = try verify(subject, roots, interrupts)
                statuses.append(report.result.outcome == .failed ? .damaged : .done)
                summary.add(report)
            } catch let error where !interrupts.wereReceived {
                statuses.append(common.report(error))
                summary.unverified += 1
            }
            if interrupts.wereReceived { throw ExitStatus.interrupted }
        }
        if inputs.isEmpty, !common.json { common.tell(summary.text) }
        try ExitStatus.throwUnlessDone(statuses)
    }

    private enum Subject {
        case archive(Archive, ArchiveStore)
        case file(String)
    }

    private func subjects(_ summary: inout VerificationTally) throws -> [Subject] {
        let files = inputs.filter { Self.isFile($0) }
        guard files.count < inputs.count || inputs.isEmpty else { return files.map { .file($0) } }
        let store = try common.openStoreToChange()
        guard !inputs.isEmpty else {
            let archives = try store.archives()
            let available = archives.filter { $0.availability == .available }
            summary.unavailable = archives.count - available.count
            return available.map { .archive($0.archive, store) }
        }
        return try inputs.map {
            Self.isFile($0) ? .file($0) : .archive(try store.resolver.archive(matching: $0), store)
        }
    }

    private static func isFile(_ input: String) -> Bool {
        (input.contains("/") || input.hasSuffix(".wacz")) && FileManager.default.fileExists(atPath: input)
    }

    private func verify(_ subject: Subject, _ roots: TrustRoots?, _ interrupts: Interrupts) throws -> VerificationReport
    {
        let (name, size): (String, UInt64)
        switch subject {
        case .archive(let archive, _): (name, size) = (archive.id.text, archive.size)
        case .file(let path): (name, size) = ((path as NSString).lastPathComponent, FileReference(at: path)?.size ?? 0)
        }
        var line = ProgressLine(name: name, isShown: !common.quiet && !common.json)
        defer { line.clear() }
        let step = { (done: UInt64) throws in
            if interrupts.wereReceived { throw ExitStatus.interrupted }
            line.show(.copying(done: done, total: size))
        }
        let report: VerificationReport
        switch subject {
        case .archive(let archive, let store):
            guard let found = try store.verifications.verify(archive, trust: roots, step: step) else {
                throw StoreError(.notFound, "the archive was removed or replaced meanwhile", place: name)
            }
            report = found
        case .file(let path):
            report = try Verifications.verify(fileAt: path, trust: roots, step: step)
        }
        line.clear()
        if common.json {
            Terminal.write(Terminal.json(Output(name: name, report: report)))
        } else {
            for line in VerdictText.lines(report, of: name) { common.tell(line) }
        }
        return report
    }

    private struct Output: Encodable {
        let name: String
        let report: VerificationReport
    }
}
