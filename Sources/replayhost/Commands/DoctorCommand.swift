import ArchiveStore
import ArgumentParser
import CommandSupport
import Foundation
import ReplayServer

/// `replayhost doctor`
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check and repair the library, and check the engine, port and host names.",
        discussion: """
            Cleans up after interrupted work, and rewrites missing or damaged indexes. With --rebuild, the catalog is \
            recreated from the archives and collections; no title, tag or note is lost.

            Example:
              replayhost doctor
            """)

    @Flag(name: .long, help: "Recreate the catalog from the files.")
    var rebuild = false

    @Option(name: .long, help: ArgumentHelp("The port to check.", valueName: "number"))
    var port = 8080

    @Option(name: .long, help: ArgumentHelp("The folder with the web app and replay engine (www).", valueName: "path"))
    var assets: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("--port \(port) is out of range; use 0 to 65535")
        }
    }

    func run() throws {
        var checks = storeChecks()
        checks += assetChecks()
        checks += [pdfCheck(), portCheck(), nameCheck()]
        for check in checks { check.write(asJSON: common.json) }
        if checks.contains(where: { $0.verdict == .bad && $0.name.hasPrefix("store") }) {
            throw ExitStatus.storeUnusable
        }
        if checks.contains(where: { $0.verdict == .bad }) { throw ExitStatus.failed }
    }

    private func storeChecks() -> [Check] {
        let location = common.location
        if !rebuild, isMissingOrEmpty(location.path) {
            return [
                Check(
                    name: "store", verdict: .good,
                    what: "\(location.path) (\(location.reason)), not created yet")
            ]
        }
        do {
            let (store, rebuilt) = try openOrRebuild(location.path)
            // Before reading anything from it.
            let lines = try store.integrityCheck()
            guard lines == ["ok"] else {
                return [
                    Check(
                        name: "store catalog", verdict: .bad, what: lines.joined(separator: "; "),
                        hint: "recreate it with `replayhost doctor --rebuild`")
                ]
            }
            let archives = try store.archives()
            var checks = [
                Check(
                    name: "store", verdict: .good,
                    what:
                        "\(location.path) (\(location.reason)), \(Terminal.count(archives.count, "archive", "archives")), "
                        + "\(Terminal.size(try store.freeBytes())) free")
            ]
            if let adaptation = store.adaptation {
                checks.append(Check(name: "store", verdict: .warning, what: adaptation))
            }
            checks += rebuilt
            checks.append(Check(name: "store catalog", verdict: .good, what: "no errors found"))
            let report = try store.repair(readsAll: true)
            if store.isReadOnly { return checks }
            for problem in report.problems { checks.append(Check(name: "store files", verdict: .bad, what: problem)) }
            if report.problems.isEmpty {
                checks.append(
                    Check(
                        name: "store files", verdict: .good,
                        what: report.changedAnything
                            ? "cleaned up after interrupted work" : "no interrupted work found"))
            }
            checks += linkedFileChecks(archives)
            checks += try verifiedFileChecks(store)
            checks += try lookupChecks(store)
            checks.append(try filterCheck(store))
            checks.append(try searchCheck(store))
            if let server = ServerFile.running(layout: store.layout) {
                checks.append(
                    Check(name: "server", verdict: .good, what: "running at \(server.address) (process \(server.pid))"))
            }
            return checks
        } catch {
            let failure = CommandError(error)
            return [
                Check(
                    name: "store", verdict: .bad, what: "\(location.path): \(failure.what)", hint: failure.hint)
            ]
        }
    }

    private func isMissingOrEmpty(_ path: String) -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return true }
        return (try? FileManager.default.contentsOfDirectory(atPath: path).isEmpty) ?? false
    }

    private func openOrRebuild(_ path: String) throws -> (store: ArchiveStore, checks: [Check]) {
        guard rebuild else { return (try ArchiveStore(at: path), []) }
        let (store, report) = try ArchiveStore.rebuild(at: path)
        let archives = Terminal.count(report.archives, "archive", "archives")
        let collections = Terminal.count(report.collections, "collection", "collections")
        let old = report.isOldCatalogDamaged ? "; the damaged one is kept as catalog.sqlite.damaged" : ""
        let done = Check(
            name: "store catalog", verdict: .good, what: "recreated: \(archives), \(collections)\(old)")
        return (store, [done] + report.repair.problems.map { Check(name: "store files", verdict: .bad, what: $0) })
    }

    /// A copied or restored file is in another state, too.
    private func verifiedFileChecks(_ store: ArchiveStore) throws -> [Check] {
        let changed = try store.verifications.changed().filter { !$0.storage.isLinked }.map(\.id.text)
        guard !changed.isEmpty else { return [] }
        let files = Terminal.count(changed.count, "file", "files")
        return [
            Check(
                name: "store files", verdict: .warning,
                what: "\(files) changed or replaced since the last verification: "
                    + changed.prefix(5).joined(separator: ", ") + (changed.count > 5 ? ", …" : ""),
                hint: "find out whether they are still right with `replayhost verify`")
        ]
    }

    /// Unavailable files are only noted, since their drive may be disconnected. Changed ones are errors.
    private func linkedFileChecks(_ archives: [ListedArchive]) -> [Check] {
        let unavailable = archives.filter { $0.availability == .unavailable }.map(\.archive.id.text)
        let changed = archives.filter { $0.availability == .changed }.map(\.archive.id.text)
        var checks: [Check] = []
        if !unavailable.isEmpty {
            checks.append(
                Check(
                    name: "linked files", verdict: .warning,
                    what: "can't find the files of \(unavailable.joined(separator: ", "))",
                    hint: "connect the drives they're on, or put the files back"))
        }
        if !changed.isEmpty {
            checks.append(
                Check(
                    name: "linked files", verdict: .bad,
                    what: "the files of \(changed.joined(separator: ", ")) have changed since they were added",
                    hint: "add the new versions with `replayhost import --link FILE`, or restore the old files"))
        }
        return checks
    }

    private func lookupChecks(_ store: ArchiveStore) throws -> [Check] {
        let report = try store.prepareLookups()
        var checks: [Check] = report.problems.map { Check(name: "lookups", verdict: .warning, what: $0) }
        if !report.prepared.isEmpty {
            let ids = report.prepared.map(\.text).joined(separator: ", ")
            checks.append(Check(name: "lookups", verdict: .good, what: "prepared the indexes of \(ids)"))
        } else if checks.isEmpty {
            checks.append(Check(name: "lookups", verdict: .good, what: "all archives are ready to search"))
        }
        return checks
    }

    /// Without a filter, an archive is opened for each lookup in the library.
    private func filterCheck(_ store: ArchiveStore) throws -> Check {
        let (damaged, missing) = try store.repairFilters()
        guard missing > 0 else { return Check(name: "filters", verdict: .good, what: "all archives have one") }
        let cause =
            damaged > 0 ? "\(Terminal.count(damaged, "damaged filter was", "damaged filters were")) deleted; " : ""
        return Check(
            name: "filters", verdict: .warning,
            what: "\(cause)\(Terminal.count(missing, "archive has", "archives have")) none yet",
            hint: "start a server, or run `replayhost jobs run`")
    }

    /// A damaged search index is deleted; the text is then indexed again.
    private func searchCheck(_ store: ArchiveStore) throws -> Check {
        let before = try store.searchIntegrityCheck()
        if before != ["ok"] { try store.resetSearch(because: "it was damaged (\(before.first ?? "unknown"))") }
        try store.jobs.queueTexts()
        let coverage = try store.searcher.coverage()
        let pending = Terminal.count(coverage.pending, "archive", "archives")
        guard coverage.pending > 0 else {
            return Check(name: "search", verdict: .good, what: "the text of all archives is indexed")
        }
        let reason = coverage.rebuildReason.map { "the index is being rebuilt, since \($0); " } ?? ""
        return Check(
            name: "search", verdict: .warning, what: "\(reason)\(pending) still to be indexed",
            hint: "start a server, or run `replayhost jobs run`")
    }

    private func assetChecks() -> [Check] {
        let folder = AssetsLocation.choose(
            option: assets, environment: ProcessInfo.processInfo.environment, executable: Terminal.executablePath)
        guard FileManager.default.fileExists(atPath: folder + "/index.html") else {
            return [
                Check(
                    name: "assets", verdict: .bad, what: "no web app in \(folder)",
                    hint: "choose the folder www with --assets")
            ]
        }
        var checks = [Check(name: "assets", verdict: .good, what: folder)]
        do {
            if let engine = try Assets(folder: folder).engine() {
                checks.append(
                    Check(
                        name: "engine", verdict: .good,
                        what: "\(engine.name) \(engine.version), sha256 \(engine.sha256)"))
            } else {
                checks.append(
                    Check(
                        name: "engine", verdict: .bad, what: ReplayHostCommand.missingEngine.what,
                        hint: ReplayHostCommand.missingEngine.hint))
            }
        } catch {
            checks.append(Check(name: "engine", verdict: .bad, what: CommandError(error).what))
        }
        return checks
    }

    private func pdfCheck() -> Check {
        guard let program = PDFProgram.installed else {
            return Check(
                name: "PDFs", verdict: .warning, what: "not read, because pdftotext isn't installed",
                hint: "install poppler-utils to search their text")
        }
        guard let sandbox = program.sandbox else {
            return Check(
                name: "PDFs", verdict: .warning, what: "not read, because no sandbox for \(program.path) works here",
                hint: "install bubblewrap, or run pdftotext without a sandbox: `replayhost serve --pdf-text`")
        }
        return Check(name: "PDFs", verdict: .good, what: "\(program.path) runs in a sandbox (\(sandbox.rawValue))")
    }

    private func portCheck() -> Check {
        do {
            _ = try LoopbackPort(taking: port)
            return Check(name: "port", verdict: .good, what: "\(port) is free")
        } catch {
            return Check(
                name: "port", verdict: .warning, what: CommandError(error).what,
                hint: "fine if replayhost itself uses it; otherwise `replayhost serve --port 0` picks a free one")
        }
    }

    /// Most browsers resolve `*.localhost` themselves; only others use the system's resolver.
    private func nameCheck() -> Check {
        var found: UnsafeMutablePointer<addrinfo>?
        defer { if let found { freeaddrinfo(found) } }
        guard getaddrinfo("check.replayhost.localhost", nil, nil, &found) == 0 else {
            return Check(
                name: "names", verdict: .warning,
                what: "this system doesn't resolve *.replayhost.localhost; browsers that need it use ports instead")
        }
        return Check(name: "names", verdict: .good, what: "*.replayhost.localhost resolves")
    }
}
