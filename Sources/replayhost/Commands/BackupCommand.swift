import ArchiveStore
import ArgumentParser
import CommandSupport
import Foundation

/// `replayhost backup DIR`
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Back up the library to a folder, preferably on another disk.",
        discussion: """
            Copies only new files, and checks each copy against its SHA-256. You can keep using the library \
            meanwhile. docs/backup.md describes the folder's contents.

            Example:
              replayhost backup /media/disk/archives-backup
            """)

    @Argument(help: ArgumentHelp("The backup folder, created if needed.", valueName: "folder"))
    var folder: String

    @Flag(name: .long, help: "Also check files that are already in the backup; replace damaged ones.")
    var verify = false

    @Flag(name: .customLong("include-linked"), help: "Also copy linked files.")
    var includeLinked = false

    /// The former name of `--include-linked` (0.1.0).
    @Flag(name: .customLong("include-references"), help: .hidden)
    var includeReferences = false

    @Flag(name: .long, help: "Delete from the backup what is no longer in the library.")
    var prune = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if folder.isEmpty { throw ValidationError("<folder> is empty; give a path") }
    }

    private var includesLinkedFiles: Bool { includeLinked || includeReferences }

    func run() throws {
        common.noteStore()
        var store = try common.openExistingStore()
        // A read-only store is backed up without repairs.
        if !store.isReadOnly { store = try common.openStore(repairing: true) }
        let path = StoreLocation.absolute(folder, in: FileManager.default.currentDirectoryPath)
        let options = BackupOptions(verifies: verify, includesLinkedFiles: includesLinkedFiles, prunes: prune)
        let interrupts = Interrupts(isInstalled: true)
        var line = ProgressLine(name: "backup", isShown: !common.quiet && !common.json)
        defer { line.clear() }
        let report = try store.backUp(to: path, options: options) { progress in
            if interrupts.wereReceived {
                throw StoreError(
                    .interrupted,
                    "interrupted; the previous backup is still valid, and the next one continues from here",
                    place: folder)
            }
            line.show(progress)
        }
        line.clear()
        write(report)
        try ExitStatus.throwUnlessDone(report.problems.map { common.report($0) })
    }

    /// docs/json.md, "On the command line".
    private struct BackupResult: Encodable {
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

    private func write(_ report: BackupReport) {
        if common.json {
            return Terminal.writeJSON(
                BackupResult(
                    folder: folder, madeAt: report.madeAt, archives: report.archives,
                    collections: report.collections,
                    copied: report.copied, unchanged: report.unchanged,
                    verified: verify ? report.verified : nil, elsewhere: report.elsewhere,
                    pruned: prune ? report.pruned : nil, leftOut: report.leftOut.map(\.text),
                    notes: report.notes))
        }
        common.tell(
            "backed up \(Terminal.count(report.archives, "archive", "archives")) and "
                + "\(Terminal.count(report.collections, "collection", "collections")): \(Terminal.files(report.copied)) copied, "
                + "\(Terminal.files(report.unchanged)) unchanged")
        if verify { common.tell("verified \(Terminal.files(report.verified)) in the backup") }
        if report.elsewhere.count > 0 {
            let advice = includesLinkedFiles ? "" : "; --include-linked copies them too"
            common.tell(
                "linked, not copied: \(Terminal.files(report.elsewhere))" + advice)
        }
        if report.pruned.count > 0 { common.tell("deleted \(Terminal.files(report.pruned)) no longer needed") }
        if !report.leftOut.isEmpty {
            common.tell("not backed up: \(report.leftOut.map(\.text).joined(separator: ", "))")
        }
        for note in report.notes { common.note(note) }
    }
}

extension Terminal {
    /// Formats a number of files with their size, such as "3 files (1.5 MB)".
    static func files(_ tally: FileTally) -> String {
        let size = tally.count > 0 ? " (\(size(tally.bytes)))" : ""
        return count(tally.count, "file", "files") + size
    }
}
