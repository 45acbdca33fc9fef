import ArchiveStore
import ArgumentParser
import Foundation

/// `replayhost backup DIR`
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy what is new in the store to a folder, best on another disk.",
        discussion: """
            Files that the folder has are not copied again; each one copied is checked against its SHA-256. The store stays \
            in use meanwhile. Files that archives only refer to stay where they are, unless --include-linked is \
            given. docs/backup.md tells what is in the folder.

            Examples:
              replayhost backup /media/disk/archives-backup
              replayhost backup /media/disk/archives-backup --verify --prune
            """)

    @Argument(help: ArgumentHelp("The folder of the backup; made when it is not there.", valueName: "folder"))
    var folder: String

    @Flag(name: .long, help: "Also read through what the backup has already; copy anew what is damaged.")
    var verify = false

    @Flag(name: .customLong("include-linked"), help: "Also copy the files that archives only refer to.")
    var includeLinked = false

    /// The name of `--include-linked` in version 0.1.0.
    @Flag(name: .customLong("include-references"), help: .hidden)
    var includeReferences = false

    @Flag(name: .long, help: "Afterwards delete files of archives that the store no longer has.")
    var prune = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if folder.isEmpty { throw ValidationError("the folder is empty; give its path") }
    }

    private var includesLinkedFiles: Bool { includeLinked || includeReferences }

    func run() throws {
        common.sayWhichStore()
        var store = try common.openExistingStore()
        // What can only be read can be backed up as it is.
        if !store.isReadOnly { store = try common.openStore(repairing: true) }
        let path = StoreLocation.absolute(folder, in: FileManager.default.currentDirectoryPath)
        let options = BackupOptions(verifies: verify, includesLinkedFiles: includesLinkedFiles, prunes: prune)
        let interrupts = Interrupts(isInstalled: true)
        var line = ProgressLine(name: "backup", isShown: !common.quiet && !common.json)
        defer { line.clear() }
        let report = try store.backUp(to: path, options: options) { progress in
            if interrupts.happened {
                throw StoreError(
                    .interrupted, "interrupted; the backup before is valid, and the next one goes on from here",
                    place: folder)
            }
            line.show(progress)
        }
        line.clear()
        say(report)
        for problem in report.problems { Fault(problem).report(asJSON: common.json) }
        try ExitStatus.throwUnlessDone(report.problems.map { Fault($0).status })
    }

    /// docs/json.md, "On the command line".
    private struct Made: Encodable {
        let folder: String
        let madeAt: String
        let archives: Int
        let collections: Int
        let copied: FileTally
        let unchanged: FileTally
        let verified: FileTally?
        let elsewhere: FileTally
        let pruned: FileTally?
        let leftOut: [String]
        let notes: [String]
    }

    private func say(_ report: BackupReport) {
        if common.json {
            return Terminal.write(
                Terminal.json(
                    Made(
                        folder: folder, madeAt: report.madeAt, archives: report.archives,
                        collections: report.collections,
                        copied: report.copied, unchanged: report.unchanged,
                        verified: verify ? report.verified : nil, elsewhere: report.elsewhere,
                        pruned: prune ? report.pruned : nil, leftOut: report.leftOut.map(\.text),
                        notes: report.notes)))
        }
        common.tell(
            "backed up \(Terminal.count(report.archives, "archive", "archives")) and "
                + "\(Terminal.count(report.collections, "collection", "collections")): \(Terminal.files(report.copied)) copied, "
                + "\(Terminal.files(report.unchanged)) there already")
        if verify { common.tell("\(Terminal.files(report.verified)) of the backup read through and whole") }
        if report.elsewhere.count > 0 {
            let advice = includesLinkedFiles ? "" : "; --include-linked copies them"
            common.tell(
                "\(Terminal.files(report.elsewhere)) only referred to, and not in the backup" + advice)
        }
        if report.pruned.count > 0 { common.tell("\(Terminal.files(report.pruned)) no longer needed, and deleted") }
        if !report.leftOut.isEmpty {
            common.tell("left out: \(report.leftOut.map(\.text).joined(separator: ", "))")
        }
        for note in report.notes { common.remark(note) }
    }
}

extension Terminal {
    /// For people: 3 files (1.5 MB).
    static func files(_ tally: FileTally) -> String {
        let size = tally.count > 0 ? " (\(size(tally.bytes)))" : ""
        return count(tally.count, "file", "files") + size
    }
}
