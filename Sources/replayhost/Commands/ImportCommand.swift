import ArchiveStore
import ArgumentParser
import Foundation
import WebArchive

/// `replayhost import PATH…`
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Copy archives into the store.",
        discussion: """
            Each file is copied, hashed, checked and indexed; the original stays where it is. A file that the
            store already has is left alone. Folders are searched for .wacz files, also below them.

            Examples:
              replayhost import crawl.wacz
              replayhost import ~/archives
              curl -s http://localhost:9000/crawl.wacz | replayhost import - --title "My crawl"
            """)

    @Argument(help: ArgumentHelp("Files, folders, or - for standard input.", valueName: "path"))
    var paths: [String]

    @Option(name: .long, help: "A title instead of the package's own.")
    var title: String?

    @Flag(name: .long, help: "Check all hashes first; refuse an archive with any warning.")
    var strict = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if title != nil, paths.count > 1 {
            throw ValidationError("--title names one archive; \(paths.count) paths are given")
        }
    }

    func run() async throws {
        common.sayWhichStore()
        let store = try common.openStore(repairing: true)
        // A read of standard input can wait for ever: there a signal ends the program at once, and the next start cleans up.
        let interrupts = Interrupts(isInstalled: !paths.contains("-"))
        var tally = Tally()
        inputs: for path in paths {
            for input in inputs(at: path, tally: &tally) {
                guard !interrupts.happened else {
                    tally.interrupt(before: input, asJSON: common.json)
                    break inputs
                }
                importOne(input, into: store, interrupts: interrupts, tally: &tally)
            }
        }
        if tally.statuses.count > 1 { common.remark(tally.summary) }
        let status = ExitStatus.combined(tally.statuses)
        if status != .done { throw status }
    }

    /// The files behind an argument: itself, or what a folder holds.
    private func inputs(at path: String, tally: inout Tally) -> [String] {
        var isFolder: ObjCBool = false
        guard path != "-", FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
        else {
            return [path]
        }
        var unreadable: [String] = []
        let found = FolderSearch.archives(in: path, unreadable: &unreadable)
        for folder in unreadable {
            tally.fail(StoreError(.failed, "cannot read the folder", place: folder), asJSON: common.json)
        }
        if found.isEmpty, unreadable.isEmpty {
            tally.fail(StoreError(.notFound, "the folder holds no .wacz file", place: path), asJSON: common.json)
        }
        return found
    }

    private func importOne(_ input: String, into store: ArchiveStore, interrupts: Interrupts, tally: inout Tally) {
        let name = input == "-" ? "standard input" : (input as NSString).lastPathComponent
        var line = ProgressLine(name: name, isShown: !common.quiet && !common.json)
        let options = ImportOptions(title: title, isStrict: strict)
        do {
            let follow = { (progress: ImportProgress) throws in
                if interrupts.happened {
                    throw StoreError(.interrupted, "interrupted; nothing of it was kept", place: input)
                }
                line.show(progress)
            }
            let outcome =
                input == "-"
                ? try store.importStream(
                    0, name: title ?? "standard input", source: "standard input", options: options, progress: follow)
                : try store.importFile(at: input, options: options, progress: follow)
            line.clear()
            report(outcome)
            tally.succeed(isDuplicate: outcome.isDuplicate)
        } catch {
            line.clear()
            tally.fail(error, asJSON: common.json)
        }
    }

    private struct Imported: Encodable {
        let archive: ArchiveDetails
        let duplicate: Bool
    }

    private func report(_ outcome: ImportOutcome) {
        if common.json {
            return Terminal.write(Terminal.json(Imported(archive: outcome.details, duplicate: outcome.isDuplicate)))
        }
        let archive = outcome.archive
        let title = Terminal.safe(archive.title)
        if outcome.isDuplicate {
            return Terminal.write("\(archive.id): already in the store (\(title)); nothing was changed")
        }
        let facts = [
            Terminal.count(archive.pageCount, "page", "pages"),
            Terminal.count(archive.captureCount, "capture", "captures"),
            Terminal.size(archive.size), "not yet verified",
        ]
        Terminal.write("\(archive.id): imported \(title) (\(facts.joined(separator: ", ")))")
        let shown = outcome.findings.filter { $0.severity > .notice }
        if !common.quiet {
            for finding in shown.prefix(10) { Terminal.write("  " + FindingText.line(finding)) }
            if shown.count > 10 {
                Terminal.write("  and \(shown.count - 10) more: replayhost info \(archive.id)")
            }
        }
    }
}

/// What became of several inputs.
private struct Tally {
    var statuses: [ExitStatus] = []
    private var imported = 0
    private var duplicates = 0

    mutating func succeed(isDuplicate: Bool) {
        statuses.append(.done)
        if isDuplicate { duplicates += 1 } else { imported += 1 }
    }

    mutating func fail(_ error: any Error, asJSON: Bool) {
        let fault = Fault(error)
        fault.report(asJSON: asJSON)
        statuses.append(fault.status)
    }

    /// Ctrl-C while an input was being finished, or between two: those that follow are not begun.
    mutating func interrupt(before input: String, asJSON: Bool) {
        guard !statuses.contains(.interrupted) else { return }
        fail(StoreError(.interrupted, "interrupted before this one was begun", place: input), asJSON: asJSON)
    }

    var summary: String {
        let failed = statuses.count - imported - duplicates
        return "\(imported) imported, \(duplicates) already there, \(failed) failed"
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
