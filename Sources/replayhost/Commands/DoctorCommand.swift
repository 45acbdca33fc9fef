import ArchiveStore
import ArgumentParser
import Foundation
import ReplayServer

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `replayhost doctor`
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check that everything is in place: store, assets, engine, port, names.",
        discussion: """
            What interrupted work left behind is cleaned up, and indexes that lookups need are written where they are \
            missing or damaged. --rebuild makes the catalog anew from the files, their sidecars and the collections: nothing \
            that you said of an archive is lost.

            Examples:
              replayhost doctor
              replayhost doctor --rebuild
            """)

    @Flag(name: .long, help: "Make the catalog anew from the files.")
    var rebuild = false

    @Option(name: .long, help: ArgumentHelp("The port that serve would use.", valueName: "number"))
    var port = 8080

    @Option(name: .long, help: ArgumentHelp("The folder www: user interface and replay engine.", valueName: "path"))
    var assets: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is \(port); 0 to 65535 are possible") }
    }

    /// One thing that was looked at.
    struct Check: Encodable {
        enum Verdict: String, Encodable {
            case good, warning, bad
        }
        let name: String
        let verdict: Verdict
        let what: String
        var hint: String?
    }

    func run() throws {
        var checks = storeChecks()
        checks += assetChecks()
        checks += [portCheck(), nameCheck()]
        for check in checks {
            if common.json {
                Terminal.write(Terminal.json(check))
                continue
            }
            let mark = ["good": "ok", "warning": "note", "bad": "BAD"][check.verdict.rawValue] ?? ""
            Terminal.write(
                "\(mark.padding(toLength: 5, withPad: " ", startingAt: 0)) \(check.name): \(Terminal.safe(check.what))")
            if let hint = check.hint { Terminal.write("      hint: \(hint)") }
        }
        if checks.contains(where: { $0.verdict == .bad && $0.name.hasPrefix("store") }) {
            throw ExitStatus.storeUnusable
        }
        if checks.contains(where: { $0.verdict == .bad }) { throw ExitStatus.failed }
    }

    private func storeChecks() -> [Check] {
        let location = common.location
        if !rebuild, isNotMadeYet(location.path) {
            return [
                Check(
                    name: "store", verdict: .good,
                    what: "\(location.path) (\(location.reason)), not made yet: `replayhost import` or `serve` does it")
            ]
        }
        do {
            let (store, rebuilt) = try openOrRebuild(location.path)
            // Before anything is read of it.
            let lines = try store.integrityCheck()
            guard lines == ["ok"] else {
                return [
                    Check(
                        name: "store catalog", verdict: .bad, what: lines.joined(separator: "; "),
                        hint: "run `replayhost doctor --rebuild`, which makes it anew from files/ and collections/")
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
            checks.append(Check(name: "store catalog", verdict: .good, what: "SQLite finds nothing wrong"))
            let report = try store.repair(readsAll: true)
            if store.isReadOnly { return checks }
            for problem in report.problems { checks.append(Check(name: "store files", verdict: .bad, what: problem)) }
            if report.problems.isEmpty {
                checks.append(
                    Check(
                        name: "store files", verdict: .good,
                        what: report.changedAnything
                            ? "leftovers of interrupted work were cleaned up" : "nothing was left half done"))
            }
            checks += linkedFileChecks(archives)
            checks += try lookupChecks(store)
            if let server = ServerFile.running(layout: store.layout) {
                checks.append(
                    Check(name: "server", verdict: .good, what: "runs at \(server.address) (process \(server.pid))"))
            }
            return checks
        } catch {
            let fault = Fault(error)
            return [
                Check(
                    name: "store", verdict: .bad, what: "\(location.path): \(fault.what)", hint: fault.hint)
            ]
        }
    }

    /// Nothing is there, or an empty folder.
    private func isNotMadeYet(_ path: String) -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return true }
        return (try? FileManager.default.contentsOfDirectory(atPath: path).isEmpty) ?? false
    }

    private func openOrRebuild(_ path: String) throws -> (store: ArchiveStore, checks: [Check]) {
        guard rebuild else { return (try ArchiveStore(at: path), []) }
        let (store, report) = try ArchiveStore.rebuild(at: path)
        let archives = Terminal.count(report.archives, "archive", "archives")
        let collections = Terminal.count(report.collections, "collection", "collections")
        let old = report.isOldOneDamaged ? "; the damaged one lies beside it as catalog.sqlite.damaged" : ""
        let done = Check(
            name: "store catalog", verdict: .good, what: "made anew: \(archives), \(collections)\(old)")
        return (store, [done] + report.repair.problems.map { Check(name: "store files", verdict: .bad, what: $0) })
    }

    /// Linked files that are away are no fault; those that are other ones now are to be looked at.
    private func linkedFileChecks(_ archives: [ListedArchive]) -> [Check] {
        let away = archives.filter { $0.availability == .unavailable }.map(\.archive.id.text)
        let changed = archives.filter { $0.availability == .changed }.map(\.archive.id.text)
        var checks: [Check] = []
        if !away.isEmpty {
            checks.append(
                Check(
                    name: "linked files", verdict: .warning,
                    what: "the files of \(away.joined(separator: ", ")) are not where they were",
                    hint: "attach their volumes, or put the files back"))
        }
        if !changed.isEmpty {
            checks.append(
                Check(
                    name: "linked files", verdict: .bad,
                    what: "the files of \(changed.joined(separator: ", ")) were changed since they were read",
                    hint: "`replayhost import --link FILE` reads each anew, or put them back as they were"))
        }
        return checks
    }

    private func lookupChecks(_ store: ArchiveStore) throws -> [Check] {
        let report = try store.prepareLookups()
        var checks: [Check] = report.problems.map { Check(name: "lookups", verdict: .warning, what: $0) }
        if !report.prepared.isEmpty {
            let ids = report.prepared.map(\.text).joined(separator: ", ")
            checks.append(Check(name: "lookups", verdict: .good, what: "indexes were prepared: \(ids)"))
        } else if checks.isEmpty {
            checks.append(Check(name: "lookups", verdict: .good, what: "captures of every archive can be searched"))
        }
        return checks
    }

    private func assetChecks() -> [Check] {
        let folder = AssetsLocation.choose(
            option: assets, environment: ProcessInfo.processInfo.environment, executable: Terminal.executablePath)
        guard FileManager.default.fileExists(atPath: folder + "/index.html") else {
            return [
                Check(
                    name: "assets", verdict: .bad, what: "no user interface in \(folder)",
                    hint: "give the folder www with --assets")
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
                        name: "engine", verdict: .bad, what: "the replay engine is missing, no page can be shown",
                        hint: "run `make setup` in the replayhost folder"))
            }
        } catch {
            checks.append(Check(name: "engine", verdict: .bad, what: Fault(error).what))
        }
        return checks
    }

    private func portCheck() -> Check {
        do {
            _ = try LoopbackPort(taking: port)
            return Check(name: "port", verdict: .good, what: "\(port) is free")
        } catch {
            return Check(
                name: "port", verdict: .warning, what: Fault(error).what,
                hint: "fine when that is replayhost itself; else `replayhost serve --port 0` takes any free one")
        }
    }

    /// Browsers resolve `*.localhost` by themselves; the system's resolver matters only to those that ask it.
    private func nameCheck() -> Check {
        var found: UnsafeMutablePointer<addrinfo>?
        defer { if let found { freeaddrinfo(found) } }
        guard getaddrinfo("check.replayhost.localhost", nil, nil, &found) == 0 else {
            return Check(
                name: "names", verdict: .warning, what: "this system does not resolve *.replayhost.localhost",
                hint:
                    "Chromium, Firefox and WebKitGTK resolve such names by themselves; in other browsers each archive has a port of its own"
            )
        }
        return Check(name: "names", verdict: .good, what: "*.replayhost.localhost resolves")
    }
}
