import ArchiveStore
import ArgumentParser
import Foundation
import ReplayHostKit
import WebArchive

/// `replayhost import PATH…`
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Bring archives into the store.",
        discussion: """
            Each file is copied, hashed, checked and indexed; the original stays where it is, unless --move deletes it \
            once the store has it for good. With --link nothing is copied: the file is read in its place, and hashed \
            later. A file that the store already has is left alone. Folders are searched for .wacz files, also below \
            them. A package that holds several archives becomes a collection of them.

            Examples:
              replayhost import crawl.wacz
              replayhost import ~/archives --report imported.csv
              replayhost import --link /media/disk/archives
              replayhost import --replace crawl crawl-again.wacz
              curl -s http://localhost:9000/crawl.wacz | replayhost import - --title "My crawl"
            """)

    @Argument(help: ArgumentHelp("Files, folders, or - for standard input.", valueName: "path"))
    var paths: [String]

    @Flag(name: .long, help: "Delete each original once the store has it for good.")
    var move = false

    @OptionGroup var linking: LinkOption

    @Option(name: .long, help: ArgumentHelp("An id instead of one made of the file's name.", valueName: "id"))
    var id: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Put the file in the place of this archive; id, title, tags, notes stay.", valueName: "id"))
    var replace: String?

    @Option(name: .long, help: "A title instead of the package's own.")
    var title: String?

    @Option(name: .long, help: ArgumentHelp("A tag; may be given several times.", valueName: "tag"))
    var tag: [String] = []

    @Flag(name: .long, help: "Check all hashes first; refuse an archive with any warning.")
    var strict = false

    @Option(name: .long, help: ArgumentHelp("Write what became of each input to a CSV file.", valueName: "file"))
    var report: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        for (name, isGiven) in [("--title", title != nil), ("--id", id != nil), ("--replace", replace != nil)]
        where isGiven && paths.count > 1 {
            throw ValidationError("\(name) is about one archive; \(paths.count) paths are given")
        }
        if move && linking.isGiven { throw ValidationError("--move and --link exclude each other; give one of them") }
        if id != nil && replace != nil {
            throw ValidationError("--replace keeps the id of the archive; leave --id out")
        }
        if (move || linking.isGiven) && paths.contains("-") {
            throw ValidationError("standard input has no place: leave out \(move ? "--move" : "--link")")
        }
        if let id, ArchiveID(id) == nil {
            throw ValidationError(
                "--id \"\(id)\" cannot be one; an id has 1 to 63 of a-z, 0-9 and single hyphens, and is none of "
                    + "all, api, localhost, replayhost, stock, www")
        }
    }

    func run() throws {
        common.sayWhichStore()
        let store = try common.openStore(repairing: true)
        // A read of standard input can wait for ever: there a signal ends the program at once, and the next start cleans up.
        let interrupts = Interrupts(isInstalled: !paths.contains("-"))
        let options = try options(in: store)
        let file = try report.map { try ImportReport(at: $0) }
        var tally = Tally(report: file, asJSON: common.json)
        var all: [(path: String, size: UInt64)] = []
        for path in paths { all += try inputs(at: path, tally: &tally).map { ($0, Self.size(of: $0)) } }
        let began = ContinuousClock.now
        let total = all.reduce(UInt64(0)) { $0.addingSaturated($1.size) }
        var before: UInt64 = 0
        for (index, input) in all.enumerated() {
            guard !interrupts.happened else {
                tally.interrupt(before: input.path)
                break
            }
            let batch = ProgressLine.Batch(
                number: index + 1, count: all.count, before: before, total: total, began: began)
            importOne(
                input.path, options, batch: all.count > 1 ? batch : nil, into: store, interrupts: interrupts,
                tally: &tally)
            before = before.addingSaturated(input.size)
        }
        if tally.statuses.count > 1 {
            common.remark(tally.summary)
            for line in tally.failures { common.remark(line) }
        }
        if linking.isGiven { sayWhoHashes(store) }
        try tally.finishReport()
        try ExitStatus.throwUnlessDone(tally.statuses)
    }

    private var mode: ImportMode { move ? .move : linking.isGiven ? .link : .copy }

    private func options(in store: ArchiveStore) throws -> ImportOptions {
        _ = try ArchiveMetadata(title: title, tags: tag).checked()
        let replaced = try replace.map { try store.resolver.archive(matching: $0).id }
        return ImportOptions(
            title: title, isStrict: strict, id: id.flatMap { ArchiveID($0) }, tags: tag, replaces: replaced)
    }

    /// Bytes of a file; 0 for what is none.
    private static func size(of path: String) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
    }

    /// The files behind an argument: itself, or what a folder holds.
    private func inputs(at path: String, tally: inout Tally) throws -> [String] {
        var isFolder: ObjCBool = false
        guard path != "-", FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
        else {
            return [path]
        }
        guard title == nil, id == nil, replace == nil else {
            throw ValidationError("\(path) is a folder; --title, --id and --replace are about one archive")
        }
        var unreadable: [String] = []
        let found = FolderSearch.archives(in: path, unreadable: &unreadable)
        for folder in unreadable {
            tally.fail(StoreError(.failed, "cannot read the folder", place: folder), input: folder)
        }
        if found.isEmpty, unreadable.isEmpty {
            tally.fail(StoreError(.notFound, "the folder holds no .wacz file", place: path), input: path)
        }
        return found
    }

    private func importOne(
        _ input: String, _ options: ImportOptions, batch: ProgressLine.Batch?, into store: ArchiveStore,
        interrupts: Interrupts, tally: inout Tally
    ) {
        let name = input == "-" ? "standard input" : (input as NSString).lastPathComponent
        var line = ProgressLine(name: name, isShown: !common.quiet && !common.json, batch: batch)
        do {
            let follow = { (progress: ImportProgress) throws in
                if interrupts.happened {
                    throw StoreError(.interrupted, "interrupted; nothing of it was kept", place: input)
                }
                line.show(progress)
            }
            let result =
                input == "-"
                ? try store.jobs.importStream(
                    0, name: title ?? "standard input", source: "standard input", options: options, progress: follow)
                : try store.jobs.importAny(at: input, mode: mode, options: options, progress: follow)
            line.clear()
            ImportWords(wasMoved: move, common: common).say(result)
            tally.succeed(result, input: input)
        } catch {
            line.clear()
            tally.fail(error, input: input)
        }
    }

    private func sayWhoHashes(_ store: ArchiveStore) {
        guard ServerFile.running(layout: store.layout) == nil,
            let count = try? store.archives().filter({ $0.archive.sha256 == nil }).count, count > 0
        else { return }
        common.remark(
            "\(Terminal.count(count, "file waits", "files wait")) to be hashed: `replayhost serve` does it while it runs, "
                + "`replayhost jobs run` does it now")
    }
}

/// What became of several inputs.
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
            case .package(let package): package.members
            }
        for outcome in outcomes {
            counts[outcome.kind, default: 0] += 1
            note {
                try $0.add(
                    input, result: outcome.kind.rawValue, id: outcome.archive.id.text, sha256: outcome.archive.sha256,
                    size: outcome.archive.size)
            }
        }
    }

    mutating func fail(_ error: any Error, input: String) {
        let fault = Fault(error)
        fault.report(asJSON: asJSON)
        statuses.append(fault.status)
        failed.append(input)
        let words = [fault.what, fault.place, fault.hint].compactMap { $0 }.joined(separator: "; ")
        note { try $0.add(input, result: "failed", code: fault.code, words: words) }
    }

    /// Ctrl-C while an input was being finished, or between two: those that follow are not begun.
    mutating func interrupt(before input: String) {
        guard !statuses.contains(.interrupted) else { return }
        fail(StoreError(.interrupted, "interrupted before this one was begun", place: input), input: input)
    }

    /// A report that cannot be written stops no import; it is said at the end.
    private mutating func note(_ body: (ImportReport) throws -> Void) {
        guard let report else { return }
        do { try body(report) } catch { reportFailure = reportFailure ?? error }
    }

    func finishReport() throws {
        if let reportFailure { throw reportFailure }
        try report?.synchronize()
    }

    /// Which inputs failed: what was said of each has scrolled away meanwhile.
    var failures: [String] {
        let shown = failed.prefix(20).map { "  failed: \($0)" }
        let more = failed.count - shown.count
        return more > 0 ? shown + ["  and \(more) more; a report (--report FILE) lists all of them"] : shown
    }

    var summary: String {
        var parts = [
            "\(counts[.imported] ?? 0) imported", "\(counts[.duplicate] ?? 0) already there", "\(failed.count) failed",
        ]
        if let replaced = counts[.replaced] { parts.insert("\(replaced) replaced", at: 1) }
        if let taken = counts[.adopted] { parts.insert("\(taken) taken in", at: 1) }
        return parts.joined(separator: ", ")
    }
}

/// The archives below a folder.
enum FolderSearch {
    /// Files that end in `.wacz` or `.wacz.zip`, sorted; links to folders are not followed.
    static func archives(in folder: String, unreadable: inout [String]) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            unreadable.append(folder)
            return []
        }
        var found: [String] = []
        for name in names.sorted() where !name.hasPrefix(".") {
            let path = (folder as NSString).appendingPathComponent(name)
            let type = (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
            if type == .typeDirectory {
                found += archives(in: path, unreadable: &unreadable)
            } else if name.lowercased().hasSuffix(".wacz") || name.lowercased().hasSuffix(".wacz.zip") {
                found.append(path)
            }
        }
        return found
    }
}
