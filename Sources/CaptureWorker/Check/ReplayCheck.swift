import ArchiveStore
import CaptureAPI
import Foundation
import Logging
import ReplayHostKit
import Synchronization
import WebArchive

/// Replays an archive in the browser, which has no way to the network, and compares it with what was recorded.
struct ReplayCheck: Sendable {
    let session: WorkerSession

    /// The frame of the viewer in which archived pages are.
    private static let frameName = "___wb_replay_top_frame"
    private static let secondsMax = 90.0

    /// Replays the pages of an archive that this program made.
    ///
    /// - Returns: A sentence that begins with `Replays`, `Differs` or `Not checked`; `nil` for an archive without pages that can
    ///   be compared.
    /// - Throws: `CancellationError`.
    func run(_ archive: String) async throws -> String? {
        session.report(WorkerMessage(stage: .checking))
        let sentence: String
        do {
            let recorded = try RecordedPages(archive)
            if recorded.pages.isEmpty { return nil }
            sentence =
                try await verdict(recorded, archive)?.sentence
                ?? "Not checked: replay took longer than \(Int(Self.secondsMax)) s"
        } catch let failure as ToolFailure {
            sentence = "Not checked: \(failure.message)"
        } catch let error as ReplayHostError {
            sentence = "Not checked: \(error.what)"
        } catch let error as StoreError {
            sentence = "Not checked: \(error.what)"
        } catch let error as WebArchiveError {
            sentence = "Not checked: \(error.problem)"
        }
        try Task.checkCancellation()
        session.log.add(sentence)
        return sentence
    }

    private func verdict(_ recorded: RecordedPages, _ archive: String) async throws -> ReplayVerdict? {
        guard let assets = session.order.assets else { throw ToolFailure(.toolFailed, "the web app isn't installed") }
        guard session.order.tools.chromium != nil else { throw ToolFailure(.toolMissing, "Chromium isn't installed") }
        let store = "\(session.folder)/check"
        if Folder.exists(store) { try FileManager.default.removeItem(atPath: store) }
        defer { try? FileManager.default.removeItem(atPath: store) }
        let host = try ReplayHost(
            configuration: .init(
                storeFolder: URL(fileURLWithPath: store), assetsFolder: URL(fileURLWithPath: assets), origins: .names,
                logger: Logger(label: "check") { _ in SwiftLogNoOpLogHandler() }))
        guard host.hasEngine else {
            throw ToolFailure(.toolFailed, "the replay engine isn't installed; run `make setup`")
        }
        let id = try host.linkArchive(archive)
        let port = try await host.start().port
        let result = await Deadline.run(seconds: Self.secondsMax) { () -> Result<ReplayVerdict, any Error> in
            do {
                let pages = try recorded.pages.map { page in
                    (page, try host.replayURL(for: id, page: page.url, timestamp: page.timestamp).absoluteString)
                }
                return .success(try await replay(pages, port))
            } catch {
                return .failure(error)
            }
        }
        await host.stop(within: .zero)
        return try result?.get()
    }

    private typealias Address = (page: RecordedPages.Page, url: String)

    /// Replays pages, one after the other.
    private func replay(_ pages: [Address], _ port: Int) async throws -> ReplayVerdict {
        try await BrowserProcess.run(session, .server(port: port)) { browser in
            _ = try await browser.version()
            let connection = browser.connection
            let watch = ReplayWatch()
            let targets = Targets()
            return try await withThrowingTaskGroup(of: ReplayVerdict?.self) { group in
                group.addTask {
                    try await handleEvents(of: connection, targets, watch)
                    throw connection.endReason ?? BrowserEnd("the browser ended unexpectedly")
                }
                group.addTask { try await look(at: pages, over: connection, targets, watch) }
                defer { group.cancelAll() }
                while let verdict = try await group.next() {
                    if let verdict { return verdict }
                }
                throw CancellationError()
            }
        }
    }

    private func look(
        at pages: [Address], over connection: BrowserConnection, _ targets: Targets, _ watch: ReplayWatch
    ) async throws -> ReplayVerdict {
        let tab = try await targets.openPage(over: connection)
        let view = PageView(
            session: session, connection: connection, targets: targets, page: tab, frameName: Self.frameName)
        var verdict = ReplayVerdict()
        for (page, url) in pages {
            // The viewer would show another page of the same archive without being loaded again.
            try await navigate(to: "about:blank", connection, tab)
            watch.begin(page)
            try await navigate(to: url, connection, tab)
            verdict.add(try await look(at: page, in: view, watch))
        }
        return verdict
    }

    private func navigate(to url: String, _ connection: BrowserConnection, _ tab: String) async throws {
        _ = try await connection.call(
            "Page.navigate", ["url": url], session: tab, as: Page.Navigated.self)
    }

    private func look(
        at page: RecordedPages.Page, in view: PageView, _ watch: ReplayWatch
    ) async throws -> ReplayVerdict {
        let script = "document.readyState === 'complete' && /[0-9][a-z]+_\\/https?:/.test(location.href)"
        guard try await wait(seconds: 40, { await view.evaluate(script, as: Bool.self) == true }) else {
            return ReplayVerdict(isShown: false)
        }
        if page.isOurs { return try await lookAtMedia(view) }
        _ = await view.behave()
        _ = try await wait(seconds: 15) { watch.isQuiet }
        let text = await view.text().text
        for url in watch.missing.prefix(Self.loggedMax) { session.log.add("not in the archive: \(url)") }
        return ReplayVerdict(
            sameWords: ReplayVerdict.sameWords(page.text, text), requested: watch.requested,
            missing: watch.missing.count, isCut: page.isCut)
    }

    private static let loggedMax = 100

    /// Looks at a page of ours, which shows a medium or photos.
    private func lookAtMedia(_ view: PageView) async throws -> ReplayVerdict {
        let plays = await Deadline.run(seconds: 30) { await view.evaluate(Self.playScript, as: String.self) } ?? nil
        var verdict = ReplayVerdict()
        if plays == "none" {
            verdict.photos =
                await Deadline.run(seconds: 30) {
                    await view.evaluate(Self.photoScript, as: ReplayVerdict.Photos.self)
                } ?? nil
            // Without an answer, nothing was seen.
            verdict.isShown = verdict.photos != nil
            return verdict
        }
        verdict.plays = plays == "plays"
        if let plays, plays != "plays" { session.log.add("the media file doesn't play: \(plays)") }
        return verdict
    }

    private static let photoScript = """
        (async () => {
            const images = [...document.images]
            const shown = await Promise.all(images.map(image => image.decode().then(() => true, () => false)))
            return { shown: shown.filter(Boolean).length, all: images.length }
        })()
        """

    /// Seeks to the middle of the medium.
    private static let playScript = """
        (async () => {
            const media = document.querySelector('video, audio')
            if (!media) return 'none'
            const reach = name => new Promise((done, failed) => {
                media.addEventListener(name, done, { once: true })
                media.addEventListener('error', () => failed(new Error(media.error?.message || 'error')), { once: true })
                setTimeout(() => failed(new Error('no answer in time')), 20000)
            })
            try {
                if (media.error) return media.error.message || 'error'
                if (media.readyState < 1) { const known = reach('loadedmetadata'); media.load(); await known }
                const middle = Number.isFinite(media.duration) ? media.duration / 2 : 0
                const sought = reach('seeked')
                media.currentTime = middle
                await sought
                return 'plays'
            } catch (error) { return String(error.message) }
        })()
        """

    /// Waits until something is so.
    ///
    /// - Returns: Whether it was in time.
    private func wait(seconds: Double, _ isSo: @escaping @Sendable () async -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            if await isSo() { return true }
            session.report(WorkerMessage())
            try await Task.sleep(for: .milliseconds(100))
        }
        return false
    }

    private func handleEvents(
        of connection: BrowserConnection, _ targets: Targets, _ watch: ReplayWatch
    ) async throws {
        for await event in connection.events {
            guard let name = BrowserEventName(rawValue: event.method) else { continue }
            switch name {
            case .attached: try attach(event.parameters(), in: event.session, over: connection, targets)
            case .detached: targets.remove((try event.parameters() as Target.Detached).sessionId)
            case .crashed where targets.isMain(event.session):
                throw ToolFailure(.aborted, "the page's process ended unexpectedly")
            case .requested: watch.begin(try event.parameters())
            case .responded: watch.add(try event.parameters())
            case .finished: watch.end((try event.parameters() as Network.ID).requestId)
            case .failed:
                let failed: Network.Failed = try event.parameters()
                watch.end(failed.requestId, failed)
            case .dialog:
                try connection.send("Page.handleJavaScriptDialog", ["accept": true], session: event.session)
            default: break
            }
        }
    }

    /// Prepares a new page, frame or worker, which waits for it.
    private func attach(
        _ event: Target.Attached, in parent: String?, over connection: BrowserConnection, _ targets: Targets
    ) throws {
        let (id, info) = (event.sessionId, event.targetInfo)
        guard targets.add(info, session: id, parent: parent) else {
            return try connection.send("Target.closeTarget", Target.ID(targetId: info.targetId), session: nil)
        }
        // The replay engine is a service worker: what it requests isn't what the page requests.
        if info.type != "service_worker" { try connection.send("Network.enable", session: id) }
        try connection.send("Target.setAutoAttach", Target.AutoAttach(filter: Targets.attachedByPages), session: id)
        if info.type == "page" || info.type == "iframe" { try connection.send("Page.enable", session: id) }
        try connection.send("Runtime.runIfWaitingForDebugger", session: id)
        targets.ready(id)
    }
}
