import ArchiveStore
import ArgumentParser
import Foundation

/// What every command takes.
struct CommonOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The folder that holds the archives.", valueName: "path"))
    var store: String?

    @Flag(name: .long, help: "One JSON object a line instead of text (docs/json.md).")
    var json = false

    @Flag(name: .long, help: "Print only errors and what was asked for.")
    var quiet = false

    @Flag(name: .customLong("no-color"), help: "No colours (also: NO_COLOR in the environment).")
    var noColor = false

    /// Where the store is, and why there.
    var location: StoreLocation {
        StoreLocation.choose(
            option: store, environment: ProcessInfo.processInfo.environment, executable: Terminal.executablePath,
            currentFolder: FileManager.default.currentDirectoryPath)
    }

    func validate() throws {
        if noColor { Terminal.switchColorOff() }
        if store == "" { throw ValidationError("--store is empty; give the folder's path") }
    }

    /// Opens the store; a command that writes also cleans up after killed ones.
    func openStore(repairing: Bool) throws -> ArchiveStore {
        let store = try ArchiveStore(at: location.path)
        guard repairing else { return store }
        try store.checkWritable()
        let report = try store.repair()
        for id in report.adopted { remark("completed the interrupted import of \(id)") }
        for key in report.completedRemovals { remark("completed the interrupted removal of files/\(key).wacz") }
        for id in report.restoredSidecars { remark("wrote the lost sidecar of \(id) anew") }
        if report.sweptCopies > 0 {
            remark(
                "removed \(Terminal.count(report.sweptCopies, "copy", "copies")) that an interrupted import had left")
        }
        for problem in report.problems {
            Terminal.writeError(problem, label: .warning)
        }
        return store
    }

    /// Opens the store to read it; one that is not there is not made.
    ///
    /// - Throws: `StoreError` `notFound`.
    func openExistingStore() throws -> ArchiveStore {
        if let store = try openStoreIfAny() { return store }
        throw StoreError(
            .notFound, "there is no store yet", place: location.path,
            hint: "`replayhost import FILE` makes one, or name another with --store")
    }

    /// Opens the store to list what it holds: one that is not there yet holds nothing.
    func openStoreIfAny() throws -> ArchiveStore? {
        hasStore ? try openStore(repairing: false) : nil
    }

    /// Whether somebody has made the store. One that can't be looked into counts too: opening it says why it can't.
    var hasStore: Bool {
        access(StoreLayout(root: location.path).catalog, F_OK) == 0 || ![ENOENT, ENOTDIR].contains(errno)
    }

    /// Opens a store that there is, to change something in it.
    ///
    /// - Throws: `StoreError` `notFound`.
    func openStoreToChange() throws -> ArchiveStore {
        _ = try openExistingStore()
        return try openStore(repairing: true)
    }

    /// The archives and collections that are named; without a name, every archive whose file is at hand.
    func asked(_ names: [String], in store: ArchiveStore) throws -> [Replayable] {
        guard names.isEmpty else { return try names.map { try store.resolver.replayable(matching: $0) } }
        let all = try store.archives()
        let away = all.filter { $0.availability != .available }
        if !away.isEmpty {
            let ids = away.map(\.archive.id.text).joined(separator: ", ")
            remark("not asked, since their files are away or changed: \(ids)")
        }
        return all.filter { $0.availability == .available }.map { .archive($0.archive) }
    }

    /// Something worth knowing that nobody asked for: standard error, not with `--quiet`.
    func remark(_ text: String) {
        if !quiet, !json { Terminal.writeError(Terminal.safe(text)) }
    }

    /// What was done: standard output, not with `--quiet`.
    func tell(_ text: String) {
        if !quiet { Terminal.write(text) }
    }

    /// What was done, as JSON or in words.
    func tell(_ value: some Encodable, _ words: String) {
        if json { Terminal.write(Terminal.json(value)) } else { tell(words) }
    }

    func sayWhichStore() {
        remark("store: \(location.path) (\(location.reason))")
    }
}
