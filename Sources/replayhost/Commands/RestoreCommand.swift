import ArchiveStore
import ArgumentParser
import CommandSupport
import Foundation

/// `replayhost restore DIR`
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a library from a backup.",
        discussion: """
            Restores all IDs, titles, tags, notes and collections, and checks each file against its SHA-256. The \
            library must be empty or contain only archives of the same backup. Linked files that can't be found are \
            restored from their copies, if the backup has any.

            Example:
              replayhost restore /media/disk/archives-backup --store ~/archives
            """)

    @Argument(help: ArgumentHelp("The backup folder.", valueName: "folder"))
    var folder: String

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if folder.isEmpty { throw ValidationError("<folder> is empty; give a path") }
    }

    func run() throws {
        common.noteStore()
        let path = StoreLocation.absolute(folder, in: FileManager.default.currentDirectoryPath)
        let interrupts = Interrupts(isInstalled: true)
        var line = ProgressLine(name: "restore", isShown: !common.quiet && !common.json)
        defer { line.clear() }
        let report = try ArchiveStore.restore(from: path, to: common.location.path) { progress in
            if interrupts.wereReceived {
                throw StoreError(
                    .interrupted, "interrupted; run the same command again to continue", place: folder)
            }
            line.show(progress)
        }
        line.clear()
        write(report)
        try ExitStatus.throwUnlessDone(report.problems.map { common.report($0) })
    }

    /// docs/json.md, "On the command line".
    private struct RestoreResult: Encodable {
        let store: String
        let madeAt: String
        let archives: Int
        let collections: Int
        let restored: FileTally
        let alreadyThere: Int
        let adopted: [String]
        let unavailable: [String]
        let leftOut: [String]
        let notes: [String]
    }

    private func write(_ report: RestoreReport) {
        if common.json {
            return Terminal.writeJSON(
                RestoreResult(
                    store: common.location.path, madeAt: report.madeAt, archives: report.archives,
                    collections: report.collections, restored: report.restored, alreadyThere: report.alreadyThere,
                    adopted: report.adopted.map(\.text), unavailable: report.unavailable.map(\.text),
                    leftOut: report.leftOut.map(\.text), notes: report.notes))
        }
        common.tell(
            "restored \(Terminal.count(report.archives, "archive", "archives")) and "
                + "\(Terminal.count(report.collections, "collection", "collections")) as of \(report.madeAt.prefix(19))Z: "
                + "\(Terminal.files(report.restored)) copied, \(report.alreadyThere) already there")
        let lists = [
            ("copied into the library, because their linked files can't be found", report.adopted),
            ("unavailable, because their files can't be found", report.unavailable), ("not restored", report.leftOut),
        ]
        for (what, ids) in lists where !ids.isEmpty {
            common.tell("\(what): \(ids.map(\.text).joined(separator: ", "))")
        }
        for note in report.notes { common.note(note) }
    }
}
