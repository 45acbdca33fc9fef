import ArchiveStore
import ArgumentParser
import CommandSupport
import Foundation
import ReplayServer
import WebArchive

/// `replayhost open [FILE|ID]`
struct OpenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open a WACZ or WARC file, an archive or a collection in the browser.",
        discussion: """
            Adds the file to the library first, and starts the server in the background if needed (`replayhost stop` \
            stops it). Without an argument, opens the library. Set BROWSER to choose the browser.

            With --isolated, the archive opens in Chromium or Firefox with a temporary profile that can reach only this \
            server (docs/isolated.md). The command ends when you close the browser. Set CHROMIUM or FIREFOX to the \
            program to use.

            Example:
              replayhost open crawl.wacz
            """)

    @Argument(
        help: ArgumentHelp("A file, or the ID of an archive or a collection.", valueName: "file or id"),
        completion: .file(extensions: ["wacz", "warc", "arc", "gz", "zst"]))
    var target: String?

    @Option(name: .long, help: "The captured URL to open; by default, the main page.")
    var url: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Open the capture closest to this time, as 4 to 17 digits: 20240131.", valueName: "time"))
    var time: String?

    @OptionGroup var linking: LinkOption

    @Flag(name: .customLong("no-browser"), help: "Only print the URL.")
    var noBrowser = false

    @Flag(name: .long, help: "Open it in a separate browser that can reach only this server.")
    var isolated = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The port if the server isn't running yet (default: 8080, or any free port).", valueName: "number"))
    var port: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The folder with the web app and replay engine (www). Ignored if the server is running.", valueName: "path")
    )
    var assets: String?

    @OptionGroup var users: UserOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let port, !(0...65_535).contains(port) {
            throw ValidationError("--port \(port) is out of range; use 0 to 65535")
        }
        if target == "" { throw ValidationError("the name is empty; give a file or an ID, or omit it") }
        if isolated, noBrowser { throw ValidationError("--isolated can't be combined with --no-browser") }
        if time != nil, url == nil { throw ValidationError("--time needs --url") }
        if url != nil, target == nil { throw ValidationError("--url needs an archive or a collection") }
        if let time, CaptureTimestamp(endOf: time) == nil {
            throw ValidationError("--time \"\(time)\" isn't a time; give 4 to 17 digits of YYYYMMDDhhmmss")
        }
        if isolated, target == nil { throw ValidationError("--isolated needs a file or an ID") }
    }

    /// Returns a line that tells how to open a capture.
    static func hint(archive: String, url: String, timestamp: String) -> String {
        let time = timestamp.isEmpty ? "" : " --time \(timestamp)"
        return "To open a page: replayhost open \(archive) --url \(Terminal.quoted(url))\(time)"
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

    private enum Page {
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
            // There is no terminal when a file was opened from the desktop.
            if !noBrowser, !common.json { DesktopNotification.show(CommandError(error)) }
            throw error
        }
    }

    private func open() throws {
        // Checked first, so that nothing is imported or started without a browser.
        let browser = isolated ? try IsolatedBrowser.find(ProcessInfo.processInfo.environment) : nil
        common.noteStore()
        let interrupts = Interrupts(isInstalled: true)
        let (page, store) = try page(interrupts)
        try noteMissing(page, store)
        let server = BackgroundServer(
            layout: store.layout, isReadOnly: store.isReadOnly,
            assets: assets.map { StoreLocation.absolute($0, in: FileManager.default.currentDirectoryPath) }, port: port,
            users: users.arguments, interrupts: interrupts)
        let found = try server.find()
        write(found, page, browser)
        if let browser {
            try show(found.address + page.path + fragment, page, in: browser, server, interrupts)
        } else if !noBrowser {
            Browser.open(found.address + page.path + fragment)
        }
    }

    /// Tells that the URL wasn't captured. The viewer says why.
    private func noteMissing(_ page: Page, _ store: ArchiveStore) throws {
        guard let url, case .of(let replayable) = page else { return }
        let request = ArchiveStore.CaptureRequest(url: url, time: time.flatMap { CaptureTimestamp(endOf: $0) })
        guard try store.resolver.closestCapture(request, in: replayable.archives) == nil else { return }
        Terminal.writeError("\(url) wasn't captured", label: .warning)
    }

    /// The part of the viewer's URL that names the capture.
    private var fragment: String {
        guard let url else { return "" }
        // `urlQueryAllowed` has characters that separate the parameters.
        let safe = CharacterSet.urlQueryAllowed.subtracting(CharacterSet(charactersIn: "&=+#"))
        return "#url=\(url.addingPercentEncoding(withAllowedCharacters: safe) ?? url)"
            + (time.map { "&ts=\($0)" } ?? "")
    }

    /// Opens the page in an isolated browser, and waits until it's closed.
    private func show(
        _ url: String, _ page: Page, in browser: IsolatedBrowser, _ server: BackgroundServer, _ interrupts: Interrupts
    ) throws {
        guard case .of(let replayable) = page, let running = server.description else {
            throw StoreError(.failed, "the server has stopped", hint: "run the command again")
        }
        try browser.show(url, hosts: .of(running, showing: replayable), interrupts)
    }

    private func page(_ interrupts: Interrupts) throws -> (Page, ArchiveStore) {
        guard let target else { return (.library, try common.openStore(repairing: false)) }
        guard isFile(target) else {
            let store = try common.openExistingStore()
            do {
                return (.of(try store.resolver.replayable(matching: target)), store)
            } catch let error as StoreError where error.code == .notFound {
                throw StoreError(.notFound, "no file or archive \"\(target)\"", hint: error.hint)
            }
        }
        if let store = try common.openStoreIfAny(), let known = try store.resolver.archive(importedFrom: target) {
            if !common.json { common.tell("\(known.id): already in your library: \(Terminal.quotation(known.title))") }
            return (.of(.archive(known)), store)
        }
        let store = try common.openStore(repairing: true)
        return (try imported(target, store, interrupts), store)
    }

    /// Whether the argument is a file, even a missing one, rather than an ID.
    private func isFile(_ target: String) -> Bool {
        if FileReference(at: target) != nil { return true }
        return target.contains("/") || FolderSearch.isArchive(target) || target.lowercased().hasSuffix(".zip")
    }

    private func imported(_ file: String, _ store: ArchiveStore, _ interrupts: Interrupts) throws -> Page {
        var line = ProgressLine(name: (file as NSString).lastPathComponent, isShown: !common.quiet && !common.json)
        defer { line.clear() }
        let result = try store.jobs.importAny(at: file, mode: linking.isGiven ? .link : .copy) { progress in
            if interrupts.wereReceived {
                throw StoreError(.interrupted, "interrupted; nothing was added", place: file)
            }
            line.show(progress)
        }
        line.clear()
        if !common.json { ImportOutput(wasMoved: false, common: common).write(result) }
        switch result {
        case .archive(let outcome): return .of(.archive(outcome.archive))
        case .multiWACZ(let package):
            return .of(.collection(package.collection, try store.collections.members(of: package.collection)))
        }
    }

    private func write(_ found: BackgroundServer.Found, _ page: Page, _ browser: IsolatedBrowser?) {
        let url = found.address + page.path + fragment
        if common.json {
            return Terminal.writeJSON(
                Opened(
                    address: found.address, url: url, archive: page.archive?.text,
                    collection: page.collection?.text,
                    log: found.log, pid: found.processID, started: found.isStarted,
                    browser: browser?.program))
        }
        if let note = found.note { common.note("note: \(note)") }
        if let log = found.log {
            common.note("server: started in the background at \(found.address) (process \(found.processID))")
            common.note("log: \(log)")
        } else {
            common.note("server: already running at \(found.address) (process \(found.processID))")
        }
        common.note("to stop it: replayhost stop" + (common.store == nil ? "" : " --store \(common.location.path)"))
        if let browser {
            common.note("isolated browser: \(browser.program); close it to end this command")
        }
        Terminal.write(url)
    }
}
