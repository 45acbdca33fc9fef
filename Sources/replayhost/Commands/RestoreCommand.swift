import ArchiveStore
import ArgumentParser
import Foundation

/// `replayhost restore DIR`
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a store again from what `backup` has put into a folder.",
        discussion: """
            Ids, titles, tags, notes and collections are as they were, and so are all addresses. The store is empty or not \
            there yet, or has only archives of that backup: then what is missing is added. Every file is checked against \
            its SHA-256. Files that were only referred to are looked for where they were; one that is not there is \
            restored from its copy, if the backup has one.

            Example:
              replayhost restore /media/disk/archives-backup --store ~/archives
            """)

    @Argument(help: ArgumentHelp("The folder of the backup.", valueName: "folder"))
    var folder: String

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if folder.isEmpty { throw ValidationError("the folder is empty; give its path") }
    }

    func run() throws {
        common.sayWhichStore()
        let path = StoreLocation.absolute(folder, in: FileManager.default.currentDirectoryPath)
        let interrupts = Interrupts(isInstalled: true)
        var line = ProgressLine(name: "restore", isShown: !common.quiet && !common.json)
        defer { line.clear() }
        let report = try ArchiveStore.restore(from: path, to: common.location.path) { progress in
            if interrupts.happened {
                throw StoreError(
                    .interrupted, "interrupted; what was restored stays, and the same command goes on from here",
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
    private struct Restored: Encodable {
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

    private func say(_ report: RestoreReport) {
        if common.json {
            return Terminal.write(
                Terminal.json(
                    Restored(
                        store: common.location.path, madeAt: report.madeAt, archives: report.archives,
                        collections: report.collections, restored: report.restored, alreadyThere: report.alreadyThere,
                        adopted: report.adopted.map(\.text), unavailable: report.unavailable.map(\.text),
                        leftOut: report.leftOut.map(\.text), notes: report.notes)))
        }
        common.tell(
            "restored \(Terminal.count(report.archives, "archive", "archives")) and "
                + "\(Terminal.count(report.collections, "collection", "collections")) as of \(report.madeAt.prefix(19))Z: "
                + "\(Terminal.files(report.restored)) copied, \(report.alreadyThere) there already")
        let lists = [
            ("taken into the store, since their files are not where they were", report.adopted),
            ("unavailable, since their files can't be found", report.unavailable), ("left out", report.leftOut),
        ]
        for (what, ids) in lists where !ids.isEmpty {
            common.tell("\(what): \(ids.map(\.text).joined(separator: ", "))")
        }
        for note in report.notes { common.remark(note) }
    }
}
