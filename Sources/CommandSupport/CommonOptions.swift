package import ArchiveStore
package import ArgumentParser
import Foundation

/// The options of every command.
package struct CommonOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The library's folder; REPLAYHOST_STORE sets it too.", valueName: "path"))
    package var store: String?

    @Flag(name: .long, help: "Print JSON, one object per line (docs/json.md).")
    package var json = false

    @Flag(name: .long, help: "Print only errors and requested output.")
    package var quiet = false

    @Flag(name: .customLong("no-color"), help: "Don't use colors; setting NO_COLOR does the same.")
    package var noColor = false

    package init() {}

    /// The folder of the store, and what chose it.
    package var location: StoreLocation {
        StoreLocation.choose(
            option: store, environment: ProcessInfo.processInfo.environment, executable: Terminal.executablePath,
            currentFolder: FileManager.default.currentDirectoryPath)
    }

    package func validate() throws {
        if noColor { Terminal.switchColorOff() }
        if store == "" { throw ValidationError("--store is empty; give a path") }
    }

    /// Opens the store.
    ///
    /// - Parameter repairing: Whether to clean up after interrupted commands, as commands that write do.
    package func openStore(repairing: Bool) throws -> ArchiveStore {
        let store = try ArchiveStore(at: location.path)
        guard repairing else { return store }
        try store.checkWritable()
        let report = try store.repair()
        for id in report.adopted { note("completed the interrupted import of \(id)") }
        for key in report.completedRemovals { note("completed the interrupted removal of files/\(key).wacz") }
        for id in report.restoredSidecars { note("restored the missing sidecar of \(id)") }
        if report.sweptCopies > 0 {
            note(
                "removed \(Terminal.count(report.sweptCopies, "copy", "copies")) left by an interrupted import")
        }
        for problem in report.problems {
            Terminal.writeError(problem, label: .warning)
        }
        return store
    }

    /// Opens the store for reading, without creating it.
    ///
    /// - Throws: `StoreError` `notFound`.
    package func openExistingStore() throws -> ArchiveStore {
        try checkStoreExists()
        return try openStore(repairing: false)
    }

    private func checkStoreExists() throws {
        guard !hasStore else { return }
        throw StoreError(
            .notFound, "no library here yet", place: location.path,
            hint: "create it with `replayhost import FILE`, or choose another with --store")
    }

    /// Opens the store for reading; `nil` when there is none yet.
    package func openStoreIfAny() throws -> ArchiveStore? {
        hasStore ? try openStore(repairing: false) : nil
    }

    /// Whether a store exists. An unreadable one counts, so that opening it reports why.
    package var hasStore: Bool {
        access(StoreLayout(root: location.path).catalog, F_OK) == 0 || ![ENOENT, ENOTDIR].contains(errno)
    }

    /// Opens an existing store for writing.
    ///
    /// - Throws: `StoreError` `notFound`.
    package func openStoreToChange() throws -> ArchiveStore {
        try checkStoreExists()
        return try openStore(repairing: true)
    }

    /// Returns the archives and collections with these IDs; without IDs, all available archives.
    package func replayables(_ ids: [String], in store: ArchiveStore) throws -> [Replayable] {
        guard ids.isEmpty else { return try ids.map { try store.resolver.replayable(matching: $0) } }
        let all = try store.archives()
        let skipped = all.filter { $0.availability != .available }.map(\.archive.id.text)
        if !skipped.isEmpty {
            note("not searched (file unavailable or changed): \(skipped.joined(separator: ", "))")
        }
        return all.filter { $0.availability == .available }.map { .archive($0.archive) }
    }

    /// Writes a note to standard error, unless `--quiet` or `--json` is given.
    package func note(_ text: String) {
        if !quiet, !json { Terminal.writeError(text) }
    }

    /// Writes a result to standard output, unless `--quiet` is given.
    package func tell(_ text: String) {
        if !quiet { Terminal.write(text) }
    }

    /// Writes a result as JSON or as text.
    package func tell(_ value: some Encodable, _ text: String) {
        if json { Terminal.writeJSON(value) } else { tell(text) }
    }

    /// Reports an error.
    ///
    /// - Returns: Its exit code.
    package func report(_ error: any Error) -> ExitStatus {
        let failure = CommandError(error)
        failure.report(asJSON: json)
        return failure.status
    }

    /// Runs a closure for each input. After an error, which is reported, continues with the next input.
    package func statuses<Input>(of inputs: [Input], _ body: (Input) throws -> ExitStatus) -> [ExitStatus] {
        inputs.map { input in
            do {
                return try body(input)
            } catch {
                return report(error)
            }
        }
    }

    package func noteStore() {
        note("store: \(location.path) (\(location.reason))")
    }
}
