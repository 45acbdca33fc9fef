import ArchiveStore
import ArgumentParser
import CommandSupport
import Foundation
import ReplayHostKit
import WebArchive

/// `replayhost import PATH…`
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add archives to the library.",
        discussion: """
            Copies, checks and indexes each file. The original stays, unless you add --move. Files already in the library are skipped. \
            Searches folders recursively. A multi-WACZ file becomes a collection. WARC files (.warc, .warc.gz, .warc.zst) and ARC \
            files are packed into a new WACZ with an index and a list of their pages.

            Example:
              replayhost import crawl.wacz
            """)

    @Argument(help: ArgumentHelp("Files, folders, or - for standard input.", valueName: "path"))
    var paths: [String]

    @Flag(name: .long, help: "Delete each original after its import.")
    var move = false

    @OptionGroup var linking: LinkOption

    @Flag(name: .customLong("as-one"), help: "Pack all given WARC and ARC files into one archive.")
    var asOne = false

    @Option(name: .long, help: ArgumentHelp("The archive's ID (default: from the file name).", valueName: "id"))
    var id: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Replace this archive's file; keep its ID, title, tags and notes.", valueName: "id"))
    var replace: String?

    @Option(name: .long, help: "The title (default: from the file).")
    var title: String?

    @Option(name: .long, help: ArgumentHelp("A tag to add (repeatable).", valueName: "tag"))
    var tag: [String] = []

    @Flag(name: .long, help: "Verify all hashes first; refuse archives with warnings or errors.")
    var strict = false

    @Flag(name: .customLong("no-text"), help: "Don't index the text of pages; search finds only titles and URLs.")
    var noText = false

    @Option(name: .long, help: ArgumentHelp("Write the result of each input to a CSV file.", valueName: "file"))
    var report: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        for (name, isGiven) in [("--title", title != nil), ("--id", id != nil), ("--replace", replace != nil)]
        where isGiven && paths.count > 1 && !asOne {
            throw ValidationError("\(name) takes one path; \(paths.count) were given")
        }
        if move && linking.isGiven { throw ValidationError("--move can't be combined with --link") }
        if asOne && (linking.isGiven || paths.contains("-")) {
            throw ValidationError("--as-one can't be combined with \(linking.isGiven ? "--link" : "standard input")")
        }
        if id != nil && replace != nil {
            throw ValidationError("--replace keeps the archive's ID; omit --id")
        }
        if (move || linking.isGiven) && paths.contains("-") {
            throw ValidationError("\(move ? "--move" : "--link") can't be combined with standard input")
        }
        if let id, ArchiveID(id) == nil {
            throw ValidationError(
                "--id \"\(id)\" isn't valid; use 1 to 63 characters: a-z, 0-9 and single hyphens, "
                    + "but not all, api, localhost, replayhost, stock or www")
        }
    }

    func run() throws {
        common.noteStore()
        let store = try common.openStore(repairing: true)
        // Reading standard input can block forever, so a signal ends the program at once. The next start cleans up.
        let interrupts = Interrupts(isInstalled: !paths.contains("-"))
        let options = try options(in: store)
        let file = try report.map { try ImportReport(at: $0) }
        var tally = Tally(report: file, asJSON: common.json)
        var all: [(path: String, size: UInt64)] = []
        for path in paths { all += try inputs(at: path, tally: &tally).map { ($0, Self.size(of: $0)) } }
        let began = ContinuousClock.now
        let total = all.reduce(UInt64(0)) { $0.addingSaturated($1.size) }
        var before: UInt64 = 0
        var others: [String] = []
        if asOne, let first = all.first {
            others = all.dropFirst().map(\.path)
            all = [(first.path, total)]
        }
        for (index, input) in all.enumerated() {
            guard !interrupts.wereReceived else {
                tally.interrupt(before: input.path)
                break
            }
            let batch = ProgressLine.Batch(
                number: index + 1, count: all.count, before: before, total: total, began: began)
            importOne(
                input.path, with: others, options, batch: all.count > 1 ? batch : nil, into: store,
                interrupts: interrupts, tally: &tally)
            before = before.addingSaturated(input.size)
        }
        if tally.statuses.count > 1 {
            common.note(tally.summary)
            for line in tally.failures { common.note(line) }
        }
        if linking.isGiven, ServerFile.running(layout: store.layout) == nil {
            common.note("To calculate missing hashes now, run `replayhost jobs run`.")
        }
        try tally.finishReport()
        try ExitStatus.throwUnlessDone(tally.statuses)
    }

    private var mode: ImportMode { move ? .move : linking.isGiven ? .link : .copy }

    private func options(in store: ArchiveStore) throws -> ImportOptions {
        _ = try ArchiveMetadata(title: title, tags: tag).checked()
        let replaced = try replace.map { try store.resolver.archive(matching: $0).id }
        return ImportOptions(
            title: title, isStrict: strict, id: id.flatMap { ArchiveID($0) }, tags: tag, replaces: replaced,
            indexesText: !noText)
    }

    /// Returns the size of a file; 0 when there is none.
    private static func size(of path: String) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
    }

    /// Returns the path itself, or the archives in a folder.
    private func inputs(at path: String, tally: inout Tally) throws -> [String] {
        guard path != "-", Folder.isFolder(path) else { return [path] }
        guard asOne || title == nil && id == nil && replace == nil else {
            throw ValidationError("\(path) is a folder; --title, --id and --replace need a file")
        }
        var unreadable: [String] = []
        let found = FolderSearch.archives(in: path, unreadable: &unreadable).filter {
            !asOne || !FolderSearch.isWACZ($0)
        }
        for folder in unreadable {
            tally.fail(StoreError(.failed, "can't read the folder", place: folder), input: folder)
        }
        if found.isEmpty, unreadable.isEmpty {
            tally.fail(StoreError(.notFound, "no .wacz, .warc or .arc files in this folder", place: path), input: path)
        }
        return found
    }

    private func importOne(
        _ input: String, with others: [String], _ options: ImportOptions, batch: ProgressLine.Batch?,
        into store: ArchiveStore,
        interrupts: Interrupts, tally: inout Tally
    ) {
        let name = input == "-" ? "standard input" : (input as NSString).lastPathComponent
        var line = ProgressLine(name: name, isShown: !common.quiet && !common.json, batch: batch)
        do {
            let follow = { (progress: ImportProgress) throws in
                if interrupts.wereReceived {
                    throw StoreError(.interrupted, "interrupted; nothing was added", place: input)
                }
                line.show(progress)
            }
            let result =
                input == "-"
                ? try store.jobs.importStream(
                    0, name: title ?? "standard input", source: "standard input", options: options, progress: follow)
                : try store.jobs.importAny(at: input, with: others, mode: mode, options: options, progress: follow)
            line.clear()
            ImportOutput(wasMoved: move, common: common).write(result)
            tally.succeed(result, input: input)
        } catch {
            line.clear()
            tally.fail(error, input: input)
        }
    }

}

/// The results of several inputs.
private struct Tally {
    var statuses: [ExitStatus] = []
    let report: ImportReport?
    let asJSON: Bool
    private var failed: [String] = []
    private var counts: [ImportOutcome.Kind: Int] = [:]
    private var reportFailure: (any Error)?

    init(report: ImportReport?, asJSON: Bool) {
        self.report = report
        self.asJSON = asJSON
    }

    mutating func succeed(_ result: ImportResult, input: String) {
        statuses.append(.done)
        let outcomes =
            switch result {
            case .archive(let outcome): [outcome]
            case .multiWACZ(let package): package.members
            }
        for outcome in outcomes {
            counts[outcome.kind, default: 0] += 1
            addToReport {
                try $0.add(
                    input, result: outcome.kind.rawValue, id: outcome.archive.id.text, sha256: outcome.archive.sha256,
                    size: outcome.archive.size)
            }
        }
    }

    mutating func fail(_ error: any Error, input: String) {
        let failure = CommandError(error)
        failure.report(asJSON: asJSON)
        statuses.append(failure.status)
        failed.append(input)
        let message = [failure.message, failure.hint].compactMap { $0 }.joined(separator: "; ")
        addToReport { try $0.add(input, result: "failed", code: failure.code, message: message) }
    }

    /// Records an interruption between two inputs, unless one was interrupted itself.
    mutating func interrupt(before input: String) {
        guard !statuses.contains(.interrupted) else { return }
        fail(StoreError(.interrupted, "interrupted before this file was imported", place: input), input: input)
    }

    /// Writes to the report. The import continues after an error, which `finishReport()` throws.
    private mutating func addToReport(_ body: (ImportReport) throws -> Void) {
        guard let report else { return }
        do { try body(report) } catch { reportFailure = reportFailure ?? error }
    }

    func finishReport() throws {
        if let reportFailure { throw reportFailure }
        try report?.synchronize()
    }

    /// The failed inputs, listed again because their errors may have scrolled away.
    var failures: [String] {
        let shown = failed.prefix(20).map { "  failed: \($0)" }
        let more = failed.count - shown.count
        return more > 0 ? shown + ["  and \(more) more; --report FILE lists all"] : shown
    }

    var summary: String {
        var parts = [
            "\(counts[.imported] ?? 0) imported", "\(counts[.duplicate] ?? 0) already in your library",
            "\(failed.count) failed",
        ]
        if let replaced = counts[.replaced] { parts.insert("\(replaced) replaced", at: 1) }
        if let adopted = counts[.adopted] { parts.insert("\(adopted) no longer linked", at: 1) }
        return parts.joined(separator: ", ")
    }
}
