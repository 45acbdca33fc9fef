import ArchiveStore
import ArgumentParser
import Foundation
import ReplayServer
import WebArchive

/// `replayhost open [FILE|ID]`
struct OpenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Show a file or an archive in the browser; starts the server if need be.",
        discussion: """
            A file is imported first, unless the store has it already. Then the store's server is found, or started in the \
            background, where it stays until `replayhost stop`; and the browser is asked to open the archive at its main \
            page, or the library when nothing is named. BROWSER names another browser than the desktop's. Without one \
            the address is printed, as it always is.

            With --isolated, the archive opens in Chromium or Firefox with a temporary profile that can reach only this \
            server (docs/isolated.md). The command ends when you close the browser, and deletes the profile. CHROMIUM or \
            FIREFOX names the program to use.

            Examples:
              replayhost open crawl.wacz
              replayhost open crawl
              replayhost open --isolated crawl
              replayhost open --link /media/disk/large.wacz --no-browser
            """)

    @Argument(
        help: ArgumentHelp("A file, or the id of an archive or a collection.", valueName: "file or id"),
        completion: .file(extensions: ["wacz"]))
    var what: String?

    @OptionGroup var linking: LinkOption

    @Flag(name: .customLong("no-browser"), help: "Only print the address.")
    var noBrowser = false

    @Flag(name: .long, help: "Open it in a separate browser without network access.")
    var isolated = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The port, should the server have to be started (default: 8080, else any free one).", valueName: "number"))
    var port: Int?

    @Option(name: .long, help: ArgumentHelp("The folder www, should the server have to be started.", valueName: "path"))
    var assets: String?

    @OptionGroup var users: UserOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let port, !(0...65_535).contains(port) {
            throw ValidationError("--port is \(port); 0 to 65535 are possible")
        }
        if what == "" { throw ValidationError("the name is empty; give a file, an id, or nothing for the library") }
        if isolated, noBrowser { throw ValidationError("--isolated opens a browser; leave out --no-browser") }
        if isolated, what == nil { throw ValidationError("--isolated needs a file or an id") }
    }

    /// docs/json.md, "On the command line".
    private struct Opened: Encodable {
        let address: String
        let url: String
        let archive: String?
        let collection: String?
        let log: String?
        let pid: Int32
        let started: Bool
        let browser: String?
    }

    /// What to show.
    private enum Place {
        case library
        case of(Replayable)

        var archive: ArchiveID? {
            if case .of(.archive(let archive)) = self { archive.id } else { nil }
        }

        var collection: ArchiveID? {
            if case .of(.collection(let collection, _)) = self { collection.id } else { nil }
        }

        var path: String {
            switch self {
            case .library: "/"
            case .of(let replayable): ViewerAddress.path(of: replayable)
            }
        }
    }

    func run() throws {
        do {
            try open()
        } catch let status as ExitStatus {
            throw status
        } catch {
            // A double click on a file has no terminal.
            if !noBrowser, !common.json { DesktopNotice.show(error as? Fault ?? Fault(error)) }
            throw error
        }
    }

    private func open() throws {
        // First of all, so that without one nothing is imported or started.
        let browser = isolated ? try IsolatedBrowser.find(ProcessInfo.processInfo.environment) : nil
        common.sayWhichStore()
        let interrupts = Interrupts(isInstalled: true)
        let (place, store) = try place(interrupts)
        let server = BackgroundServer(
            layout: store.layout, isReadOnly: store.isReadOnly,
            assets: assets.map { StoreLocation.absolute($0, in: FileManager.default.currentDirectoryPath) }, port: port,
            users: users.arguments, interrupts: interrupts)
        let found = try server.find()
        say(found, place, browser)
        if let browser {
            try show(found.address + place.path, place, in: browser, server, interrupts)
        } else if !noBrowser {
            Self.show(found.address + place.path)
        }
    }

    /// Shows it in an isolated browser, until that is closed.
    private func show(
        _ url: String, _ place: Place, in browser: IsolatedBrowser, _ server: BackgroundServer, _ interrupts: Interrupts
    ) throws {
        guard case .of(let replayable) = place, let running = server.description else {
            throw StoreError(.failed, "the server has stopped", hint: "run the command again")
        }
        try browser.show(url, hosts: .of(running, showing: replayable), interrupts)
    }

    private func place(_ interrupts: Interrupts) throws -> (Place, ArchiveStore) {
        guard let what else { return (.library, try common.openStore(repairing: false)) }
        guard isFile(what) else {
            let store = try common.openExistingStore()
            do {
                return (.of(try store.resolver.replayable(matching: what)), store)
            } catch let error as StoreError where error.code == .notFound {
                throw StoreError(
                    .notFound, "there is no file \"\(what)\" here, and no archive has that id", hint: error.hint)
            }
        }
        if let store = try common.openStoreIfAny(), let known = try store.resolver.archive(importedFrom: what) {
            if !common.json { common.tell("\(known.id): already in the store (\(Terminal.safe(known.title)))") }
            return (.of(.archive(known)), store)
        }
        let store = try common.openStore(repairing: true)
        return (try imported(what, store, interrupts), store)
    }

    /// Whether a file is meant rather than an id: there is one, or there would be if it was not misspelled.
    private func isFile(_ what: String) -> Bool {
        if FileReference(at: what) != nil { return true }
        return what.contains("/") || [".wacz", ".zip"].contains { what.lowercased().hasSuffix($0) }
    }

    private func imported(_ file: String, _ store: ArchiveStore, _ interrupts: Interrupts) throws -> Place {
        var line = ProgressLine(name: (file as NSString).lastPathComponent, isShown: !common.quiet && !common.json)
        defer { line.clear() }
        let result = try store.jobs.importAny(at: file, mode: linking.isGiven ? .link : .copy) { progress in
            if interrupts.happened {
                throw StoreError(.interrupted, "interrupted; nothing of it was kept", place: file)
            }
            line.show(progress)
        }
        line.clear()
        if !common.json { ImportWords(wasMoved: false, common: common).say(result) }
        switch result {
        case .archive(let outcome): return .of(.archive(outcome.archive))
        case .package(let package): return .of(.collection(package.collection, []))
        }
    }

    private func say(_ found: BackgroundServer.Found, _ place: Place, _ browser: IsolatedBrowser?) {
        let url = found.address + place.path
        if common.json {
            return Terminal.write(
                Terminal.json(
                    Opened(
                        address: found.address, url: url, archive: place.archive?.text,
                        collection: place.collection?.text,
                        log: found.log, pid: found.processID, started: found.isStarted,
                        browser: browser?.program)))
        }
        if let remark = found.remark { common.remark("note: \(remark)") }
        if let log = found.log {
            common.remark("server: started in the background at \(found.address) (process \(found.processID))")
            common.remark("log: \(log)")
        } else {
            common.remark("server: runs already at \(found.address) (process \(found.processID))")
        }
        common.remark("to end it: replayhost stop" + (common.store == nil ? "" : " --store \(common.location.path)"))
        if let browser {
            common.remark("isolated browser: \(browser.program); this command ends when you close it")
        }
        Terminal.write(url)
    }

    private static func show(_ url: String) {
        do {
            try Browser.show(url)
        } catch {
            Terminal.writeError("no browser could be started (\(error.reason)); open the address above in one")
        }
    }
}
