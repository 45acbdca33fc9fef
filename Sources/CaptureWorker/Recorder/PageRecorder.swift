import ArchiveStore
import CaptureAPI
import EgressGuard
import Foundation
import Synchronization
import WebArchive

/// A browser opened something that it only downloads, or a document.
struct NotAPage: Error {
    let failure: ToolFailure
    /// After redirects.
    let url: String
    let head: ResponseHead
    /// What the browser received, with the redirects that led there; `nil` if it isn't whole.
    let exchanges: [RecordedExchange]?
    /// The header fields of the browser's request, with its cookies.
    let fields: [String: String]
}

/// Records one page with Chromium: every request and response of the page, its frames and workers.
struct PageRecorder: Sendable {
    let session: WorkerSession
    /// Whether a file that the browser can show, such as a PDF or an image, counts as a page.
    private let takesDocuments: Bool
    private let book: ExchangeBook
    private let bodies: BodyRecorder
    private let targets = Targets()

    static let view = (width: 1920, height: 1080)

    init(session: WorkerSession, limits: RecordingLimits, takesDocuments: Bool = true) {
        (self.session, self.takesDocuments) = (session, takesDocuments)
        book = ExchangeBook(limits: limits)
        bodies = BodyRecorder(session: session, book: book)
    }

    /// Records the page.
    ///
    /// A limit that is reached ends the recording; what was recorded until then is returned.
    ///
    /// - Throws: `ToolFailure`, `NotAPage`.
    func run() async throws -> RecordedPage {
        try await BrowserProcess.run(session, .guarded) { try await record(with: $0) }
    }

    private func record(with browser: BrowserProcess) async throws -> RecordedPage {
        let version = try await browser.version()
        session.log.add("recording with \(version.product)")
        let connection = browser.connection
        return try await withThrowingTaskGroup(of: RecordedPage?.self) { group in
            group.addTask {
                try await handleEvents(of: connection, version)
                throw connection.endReason ?? BrowserEnd("the browser ended unexpectedly")
            }
            group.addTask { try await recordPage(over: connection) }
            defer { group.cancelAll() }
            while let page = try await group.next() {
                if let page { return page }
            }
            throw CancellationError()
        }
    }

    private func recordPage(over connection: BrowserConnection) async throws -> RecordedPage {
        let start = try CaptureTimestamp.now()
        let page = try await targets.openPage(over: connection)
        session.report(WorkerMessage(stage: .fetching))
        try await navigate(connection, page)
        try await wait(seconds: 30) { targets.isLoaded }
        let view = PageView(session: session, connection: connection, targets: targets, page: page)
        try await wait(seconds: 40) { await view.behave() }
        try await wait(seconds: 20) { book.isQuiet }
        // A page whose process was ended shows nothing.
        let isThere = book.reached != .memory
        let text = isThere ? await view.text() : PageView.Text()
        let (image, thumbnail) = isThere ? try await view.images() : (nil, nil)
        let limit = book.reached
        book.close()
        if isThere { await bodies.fetchAgain() }
        if let end = connection.endReason { throw end }
        return RecordedPage(
            url: session.order.url, finalURL: text.url ?? session.order.url, time: start, title: text.title,
            text: text.text, view: image, thumbnail: thumbnail, exchanges: book.exchanges, resources: book.resources,
            errorCount: book.errorCount, limit: limit ?? book.reached)
    }

    /// Opens the page.
    ///
    /// - Throws: `ToolFailure` if there is none; `NotAPage`.
    private func navigate(_ connection: BrowserConnection, _ page: String) async throws {
        let navigation = Mutex<Page.Navigated?>(nil)
        let url = session.order.url
        try await wait(seconds: .infinity) {
            let answer = try await connection.call(
                "Page.navigate", ["url": url], session: page, as: Page.Navigated.self)
            navigation.withLock { $0 = answer }
            return true
        }
        guard let answer = navigation.withLock({ $0 }) else {
            throw ToolFailure(.network, "the page didn't answer in time")
        }
        let document = answer.loaderId.flatMap { bodies.document($0) }
        if let document, document.location == nil { try document.checkStatus() }
        let type = document?.location == nil ? document?.mediaType ?? "" : ""
        if let document, let id = answer.loaderId, !takesDocuments, !type.isEmpty,
            !OrdinaryFile.pageTypes.contains(type)
        {
            throw try await notAPage(document, id, connection, page)
        }
        guard let error = answer.errorText else { return }
        if let refusal = refusal(of: answer.loaderId.flatMap { bodies.documentURL($0) } ?? url) { throw refusal }
        // A download, which isn't allowed.
        if error == "net::ERR_ABORTED", let document {
            guard let id = answer.loaderId else { throw ToolFailure(navigationError: error) }
            throw try await notAPage(document, id, connection, page)
        }
        throw ToolFailure(navigationError: error)
    }

    private func notAPage(
        _ document: ResponseHead, _ id: String, _ connection: BrowserConnection, _ page: String
    ) async throws -> NotAPage {
        let url = bodies.documentURL(id) ?? session.order.url
        let cookies = try await connection.call(
            "Network.getCookies", ["urls": [url]], session: page, as: Network.Cookies.self
        ).cookies
        var fields = bodies.documentFields(id)
        fields["Cookie"] = cookies.isEmpty ? nil : cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
        let failure = ToolFailure(.unsupported, "this isn't a page, but \(document.mediaType)")
        return NotAPage(
            failure: failure, url: url, head: document, exchanges: wholeExchanges(of: url), fields: fields)
    }

    /// Returns a document as it was received, after the redirects that led to it; `nil` if it isn't whole.
    private func wholeExchanges(of url: String) -> [RecordedExchange]? {
        let exchanges = book.exchanges.filter { $0.resourceType == "document" && $0.method == "GET" }
        guard let last = exchanges.last, last.url == ExchangeBook.withoutFragment(url), last.body != nil,
            exchanges.allSatisfy({ $0.truncated == nil })
        else { return nil }
        return exchanges
    }

    /// Why the guard refused a host; `nil` if it didn't.
    private func refusal(of url: String) -> ToolFailure? {
        guard let host = WebURL(url)?.host.trimmingCharacters(in: ["[", "]"]) else { return nil }
        return session.egress.events.last { $0.host == host }?.failure
    }

    /// Waits until something is done, a time is over or a limit is reached.
    ///
    /// - Parameter isDone: Asked again until it's true.
    private func wait(seconds: Double, _ isDone: @escaping @Sendable () async throws -> Bool) async throws {
        let book = book
        let session = session
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while try await !isDone() { try await Task.sleep(for: .milliseconds(100)) }
            }
            group.addTask {
                let end = seconds.isFinite ? ContinuousClock.now + .seconds(seconds) : nil
                while book.reached == nil, end.map({ $0 > .now }) ?? true {
                    try await Task.sleep(for: .milliseconds(100))
                    session.report(
                        WorkerMessage(
                            stage: .fetching, progress: DownloadProgress(percent: nil, bytes: book.bytes, total: nil)))
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Handles events until the browser ends.
    private func handleEvents(of connection: BrowserConnection, _ version: Browser.Version) async throws {
        let agent = version.userAgent.replacingOccurrences(of: "HeadlessChrome", with: "Chrome")
        try await withThrowingDiscardingTaskGroup { group in
            for await event in connection.events {
                // Events of targets that are gone fail, and don't matter.
                guard let name = BrowserEventName(rawValue: event.method) else { continue }
                switch name {
                case .attached: try attach(event.parameters(), in: event.session, over: connection, agent)
                case .detached: targets.remove((try event.parameters() as Target.Detached).sessionId)
                case .crashed where targets.isMain(event.session):
                    if session.memory.hasEnded {
                        book.end(.memory)
                        continue
                    }
                    throw ToolFailure(.aborted, "the page's process ended unexpectedly")
                case .crashed: break
                case .paused:
                    let paused: Fetch.Paused = try event.parameters()
                    group.addTask { try await bodies.record(paused, over: connection, in: event.session) }
                case .askedForPassword:
                    // Without an answer, the request waits for a person. The response that asks is recorded.
                    let asked: Fetch.ID = try event.parameters()
                    try connection.send(
                        "Fetch.continueWithAuth", Fetch.ContinueWithAuth(requestId: asked.requestId),
                        session: event.session)
                case .requested: book.begin(try event.parameters() as Network.Requested)
                case .requestedExtra: book.add(try event.parameters() as Network.RequestedExtra)
                case .responded: book.add(try event.parameters() as Network.Responded)
                case .respondedExtra: book.add(try event.parameters() as Network.RespondedExtra)
                case .received: book.noteActivity()
                case .finished: book.end((try event.parameters() as Network.ID).requestId)
                case .failed:
                    let failed: Network.Failed = try event.parameters()
                    book.end(failed.requestId, error: failed.errorText)
                case .loaded: if targets.isMain(event.session) { targets.noteLoaded() }
                case .dialog: try dismiss(event.parameters(), over: connection, in: event.session)
                case .exception: book.noteError()
                }
            }
            group.cancelAll()
        }
    }

    /// Prepares a new page, frame or worker, which waits for it.
    private func attach(
        _ event: Target.Attached, in parent: String?, over connection: BrowserConnection, _ agent: String
    ) throws {
        let (id, type) = (event.sessionId, event.targetInfo.type)
        guard targets.add(event.targetInfo, session: id, parent: parent) else {
            // A window that the page opens.
            return try connection.send(
                "Target.closeTarget", Target.ID(targetId: event.targetInfo.targetId), session: nil)
        }
        try connection.send("Fetch.enable", Fetch.Enable(), session: id)
        try connection.send("Network.enable", session: id)
        try connection.send("Network.setCacheDisabled", ["cacheDisabled": true], session: id)
        try connection.send("Network.setBypassServiceWorker", ["bypass": true], session: id)
        try connection.send("Network.setUserAgentOverride", ["userAgent": agent], session: id)
        try connection.send("Target.setAutoAttach", Target.AutoAttach(filter: Targets.attachedByPages), session: id)
        if type == "page" || type == "iframe" {
            try connection.send("Page.enable", session: id)
            // For errors of scripts
            try connection.send("Runtime.enable", session: id)
        }
        if type == "page", let cookies = CookieFile.cookies(of: session), !cookies.isEmpty {
            try connection.send("Network.setCookies", ["cookies": cookies], session: id)
        }
        try connection.send("Runtime.runIfWaitingForDebugger", session: id)
        targets.ready(id)
    }

    /// The number of dialogs after which a script that opens them is stopped.
    private static let dialogsMax = 20

    /// Dismisses a dialog. Leaving the page isn't refused.
    private func dismiss(_ dialog: Page.Dialog, over connection: BrowserConnection, in page: String?) throws {
        try connection.send(
            "Page.handleJavaScriptDialog", ["accept": dialog.type == "beforeunload"], session: page)
        // A script can open one after the other, without an end.
        if targets.countDialog() % Self.dialogsMax == 0 {
            try connection.send("Runtime.terminateExecution", session: page)
        }
    }
}

/// The pages, frames and workers of a browser.
final class Targets: Sendable {
    private struct State {
        var main: (target: String, session: String)?
        var isReady = false
        var isLoaded = false
        /// The sessions of frames, in the order in which they appeared.
        var frames: [String] = []
        var dialogs = 0
    }
    private let state = Mutex(State())

    /// What the browser attaches to. Chromium's own windows are left out.
    static let attached: [Target.AutoAttach.Filter] =
        ["browser", "tab", "browser_ui", "webview", "other"].map { .init(type: $0, exclude: true) } + [.init()]

    /// What pages attach to: not what the browser attaches to already.
    static let attachedByPages: [Target.AutoAttach.Filter] =
        ["service_worker", "shared_worker"].map { .init(type: $0, exclude: true) } + [.init()]

    /// Adds a target.
    ///
    /// - Returns: `false` for a page that isn't the first one.
    func add(_ info: Target.Info, session: String, parent: String?) -> Bool {
        state.withLock { state in
            switch info.type {
            case "page":
                guard state.main == nil else { return false }
                state.main = (info.targetId, session)
            case "iframe": state.frames.append(session)
            default: break
            }
            return true
        }
    }

    func ready(_ session: String) {
        state.withLock { if $0.main?.session == session { $0.isReady = true } }
    }

    func remove(_ session: String) { state.withLock { $0.frames.removeAll { $0 == session } } }

    func isMain(_ session: String?) -> Bool { session != nil && state.withLock { $0.main?.session == session } }
    var isLoaded: Bool { state.withLock { $0.isLoaded } }
    func noteLoaded() { state.withLock { $0.isLoaded = true } }
    var frames: [String] { state.withLock { $0.frames } }

    func countDialog() -> Int {
        state.withLock { state in
            state.dialogs += 1
            return state.dialogs
        }
    }

    /// Opens an empty page of the size that all pages have.
    ///
    /// - Returns: Its session.
    func openPage(over connection: BrowserConnection) async throws -> String {
        try await connection.call("Browser.setDownloadBehavior", ["behavior": "deny"])
        try await connection.call("Target.setAutoAttach", Target.AutoAttach(filter: Self.attached))
        let target = try await connection.call("Target.createTarget", ["url": "about:blank"], as: Target.ID.self)
        guard let page = try await main(target.targetId, within: 20) else {
            throw ToolFailure(.toolFailed, "Chromium doesn't open a page")
        }
        let (width, height) = PageRecorder.view
        try await connection.call(
            "Emulation.setDeviceMetricsOverride", Emulation.Metrics(width: width, height: height), session: page)
        return page
    }

    /// Returns the session of the page once it's prepared; `nil` if that takes too long.
    private func main(_ target: String, within seconds: Double) async throws -> String? {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            let session = state.withLock { $0.isReady && $0.main?.target == target ? $0.main?.session : nil }
            if let session { return session }
            try await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }
}
