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
            results, and docs/findings.md each finding.

            The exit code is 4 if a file was damaged or changed, has an invalid signature, or can't be shown completely.

            Examples:
              replayhost verify                   # all archives in the library
              replayhost verify crawl
              replayhost verify harbour           # a collection: its archives together
              replayhost verify ./download.wacz   # a file that isn't in the library
            """)

    @Argument(
        help: ArgumentHelp(
            "IDs of archives or collections, or WACZ files; by default, all archives.", valueName: "id|file"))
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
                statuses.append(report.summary.code.isFailure ? .damaged : .done)
                summary.add(report.summary.code)
            } catch let error as StoreError where error.code == .changed {
                // Nothing is known about the file that is there now.
                if !common.json { common.tell("\(name(of: subject)): \(VerificationCode.changed.words(signer: nil))") }
                _ = common.report(error)
                statuses.append(.damaged)
                summary.add(.changed)
            } catch let error where !interrupts.wereReceived {
                statuses.append(common.report(error))
                summary.unverified += 1
            }
            if interrupts.wereReceived { throw ExitStatus.interrupted }
        }
        if inputs.isEmpty || summary.hasCollection, !common.json { common.tell(summary.text) }
        try ExitStatus.throwUnlessDone(statuses)
    }

    private enum Subject {
        /// The archives that replay together with one; empty for one alone.
        case archive(Archive, ArchiveStore, collection: [Archive])
        case file(String)
    }

    private func subjects(_ summary: inout VerificationTally) throws -> [Subject] {
        let files = inputs.filter { Self.isFile($0) }
        guard files.count < inputs.count || inputs.isEmpty else { return files.map { .file($0) } }
        let store = try common.openStoreToChange()
        guard !inputs.isEmpty else {
            let archives = try store.archives()
            let present = archives.filter { $0.availability == .available || $0.availability == .changed }
            summary.unavailable = archives.count - present.count
            return present.map { .archive($0.archive, store, collection: []) }
        }
        return try inputs.flatMap { input -> [Subject] in
            if Self.isFile(input) { return [.file(input)] }
            switch try store.resolver.replayable(matching: input) {
            case .archive(let archive): return [.archive(archive, store, collection: [])]
            case .collection(_, let members):
                let available = members.filter { $0.availability(in: store.layout) == .available }
                summary.unavailable += members.count - available.count
                summary.hasCollection = true
                return available.map { .archive($0, store, collection: available) }
            }
        }
    }

    private static func isFile(_ input: String) -> Bool {
        (input.contains("/") || input.hasSuffix(".wacz")) && FileManager.default.fileExists(atPath: input)
    }

    private func name(of subject: Subject) -> String {
        switch subject {
        case .archive(let archive, _, _): archive.id.text
        case .file(let path): (path as NSString).lastPathComponent
        }
    }

    private func verify(_ subject: Subject, _ roots: TrustRoots?, _ interrupts: Interrupts) throws -> VerificationReport
    {
        let name = name(of: subject)
        let size =
            switch subject {
            case .archive(let archive, _, _): archive.size
            case .file(let path): FileReference(at: path)?.size ?? 0
            }
        var line = ProgressLine(name: name, isShown: !common.quiet && !common.json)
        defer { line.clear() }
        let step = { (done: UInt64) throws in
            if interrupts.wereReceived { throw ExitStatus.interrupted }
            line.show(.copying(done: done, total: size))
        }
        let report: VerificationReport
        switch subject {
        case .archive(let archive, let store, let collection):
            let found = try store.verifications.verify(archive, trust: roots, in: collection, step: step)
            guard let found else {
                throw StoreError(.notFound, "the archive was removed or replaced meanwhile", place: name)
            }
            report = found
        case .file(let path):
            report = try Verifications.verify(fileAt: path, trust: roots, step: step)
        }
        line.clear()
        if common.json {
            Terminal.writeJSON(Output(name: name, report: report))
        } else {
            for line in VerdictText.lines(report, of: name) { common.tell(line) }
            try tellHolders(of: report.result.missing ?? [], for: subject)
        }
        return report
    }

    /// Says which archives of the library have what is missing.
    private func tellHolders(of missing: [MissingPayload], for subject: Subject) throws {
        guard case .archive(let archive, let store, let collection) = subject, !missing.isEmpty else { return }
        let holders = try store.resolver.holders(of: missing, in: archive, besides: collection)
        guard !holders.isEmpty else { return }
        common.tell("  in your library:")
        if !common.quiet { for holder in holders { Terminal.writeRow("    \(ExplanationText.line(holder))") } }
        let members = collection.isEmpty ? [archive] : collection
        common.note(CollectionCommand.togetherHint(members.map(\.id.text) + holders.map(\.archive)))
    }

    private struct Output: Encodable {
        let name: String
        let report: VerificationReport
    }
}
