import ArchiveStore
import Foundation
import WebArchive

/// A loaded page: what is done with it, its text and its images.
///
/// Scripts run in a world of their own: they see the document, but not the page's variables, and the page doesn't see theirs.
struct PageView: Sendable {
    let session: WorkerSession
    let connection: BrowserConnection
    let targets: Targets
    let page: String
    /// The name of the frame that has the page; `nil` for a page that isn't in a frame.
    var frameName: String?

    struct Text: Sendable {
        var url: String?
        var title = ""
        var text = ""
    }

    private struct Document: Decodable, Sendable {
        let url: String
        let title: String
        let text: String
    }

    private static let textBytesMax = 5 << 20
    private static let framesMax = 200
    /// How long frames are waited for together, since each may be busy.
    private static let timeMax = Duration.seconds(15)

    /// Scrolls, and requests what the page didn't need so far.
    ///
    /// - Returns: `true` when it's done.
    func behave() async -> Bool {
        _ = await evaluate(PageScripts.scroll, as: Bool.self)
        for world in await worlds() { _ = await evaluate(PageScripts.media, world, as: Int.self) }
        return true
    }

    /// Returns the title and the text of the page and its frames. What doesn't answer is left out.
    func text() async -> Text {
        var found = Text()
        let worlds = await worlds()
        let end = ContinuousClock.now + Self.timeMax
        for world in worlds where ContinuousClock.now < end {
            session.report(WorkerMessage())
            let document = await Deadline.run(seconds: 5) {
                await evaluate(PageScripts.text, world, as: Document.self)
            }
            guard let document = document ?? nil else { continue }
            if world.isMain { (found.url, found.title) = (document.url, document.title) }
            if !document.text.isEmpty { found.text += (found.text.isEmpty ? "" : "\n") + document.text }
        }
        found.text = String(decoding: found.text.utf8.prefix(Self.textBytesMax), as: UTF8.self)
        return found
    }

    /// Saves an image of the page and a small one.
    ///
    /// - Returns: Their paths; `nil` for one that can't be made.
    func images() async throws -> (view: String?, thumbnail: String?) {
        let (width, height) = (Double(PageRecorder.view.width), Double(PageRecorder.view.height))
        let view = try await image(Page.Screenshot(format: "png"), as: "view.png")
        let thumbnail = try await image(
            Page.Screenshot(
                format: "jpeg", quality: 75, clip: .init(width: width, height: height, scale: 640 / width)),
            as: "thumbnail.jpg")
        return (view, thumbnail)
    }

    private func image(_ screenshot: Page.Screenshot, as name: String) async throws -> String? {
        let (connection, page) = (connection, page)
        session.report(WorkerMessage())
        let image = await Deadline.run(seconds: 15) {
            try? await connection.call("Page.captureScreenshot", screenshot, session: page, as: Page.Image.self)
        }
        guard let data = (image ?? nil).flatMap({ Data(base64Encoded: $0.data) }) else {
            session.log.add("the browser gave no image of the page")
            return nil
        }
        let path = "\(session.output)/\(name)"
        try Folder.delete(path)
        let file = try Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_EXCL)
        try data.withUnsafeBytes { try file.append($0) }
        return path
    }

    private struct World: Sendable {
        let context: Int
        let session: String
        let isMain: Bool
    }

    /// Makes a world in each frame, the page's own first. Frames of other sites have their own sessions.
    private func worlds() async -> [World] {
        var worlds: [World] = []
        let end = ContinuousClock.now + Self.timeMax
        for target in [page] + targets.frames {
            let frames = await Deadline.run(seconds: 5) {
                try? await connection.call("Page.getFrameTree", session: target, as: Page.Frames.self)
            }
            let whole = (frames ?? nil)?.frameTree
            let tree = frameName.map { whole?.below($0) } ?? whole
            for (number, frame) in (tree?.frames ?? []).enumerated() {
                guard worlds.count < Self.framesMax, ContinuousClock.now < end else { return worlds }
                session.report(WorkerMessage())
                let context = await Deadline.run(seconds: 5) {
                    try? await connection.call(
                        "Page.createIsolatedWorld", ["frameId": frame.id, "worldName": "replayhost"],
                        session: target, as: Page.Context.self)
                }
                guard let context = context ?? nil else { continue }
                worlds.append(
                    World(
                        context: context.executionContextId, session: target,
                        isMain: (frameName != nil || target == page) && number == 0))
            }
        }
        return worlds
    }

    /// Returns the value of a script in the page itself; `nil` if it's gone or the script fails.
    func evaluate<Value: Decodable & Sendable>(_ script: String, as type: Value.Type) async -> Value? {
        guard let world = await worlds().first(where: \.isMain) else { return nil }
        return await evaluate(script, world, as: type)
    }

    /// Returns the value of a script; `nil` if the frame is gone or the script fails.
    private func evaluate<Value: Decodable & Sendable>(
        _ script: String, _ world: World, as type: Value.Type
    ) async -> Value? {
        do {
            return try await connection.call(
                "Runtime.evaluate", Runtime.Evaluate(expression: script, contextId: world.context),
                session: world.session, as: Runtime.Evaluated<Value>.self
            ).result.value
        } catch {
            return nil
        }
    }
}

/// Scripts that run in the page. Each is an expression.
enum PageScripts {
    /// Scrolls to the end, step by step, and back. A page that grows for ever is left after 20 seconds.
    static let scroll = """
        (async () => {
            const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds))
            const page = document.scrollingElement || document.documentElement
            const end = Date.now() + 20000
            for (let step = 0; step < 150 && Date.now() < end; step++) {
                const before = page.scrollTop
                window.scrollBy({ top: Math.max(200, innerHeight * 0.8), behavior: 'instant' })
                await pause(120)
                if (page.scrollTop <= before) {
                    await pause(400)
                    if (page.scrollTop + innerHeight >= page.scrollHeight - 2) break
                }
            }
            window.scrollTo({ top: 0, behavior: 'instant' })
            await pause(200)
            return true
        })()
        """

    /// Requests the images that another screen would need, and media that isn't played yet.
    static let media = """
        (() => {
            const documents = [document]
            for (let place = 0; place < documents.length && documents.length < 1000; place++)
                for (const element of documents[place].querySelectorAll('*'))
                    if (element.shadowRoot) documents.push(element.shadowRoot)
            const all = selector => documents.flatMap(root => [...root.querySelectorAll(selector)])
            const images = new Map(), media = new Map()
            const note = (map, url, element) => {
                try {
                    const whole = new URL(url, document.baseURI)
                    if (/^https?:$/.test(whole.protocol) && map.size < 500) map.set(whole.href, element.crossOrigin)
                } catch {}
            }
            // HTML, "Parsing a srcset attribute": a URL ends with white space, and can have commas inside
            const candidates = text => [...text.matchAll(/\\s*,*\\s*(\\S+)(?:\\s+[^,(]*(?:\\([^)]*\\)[^,(]*)*)?(?:,|$)/g)]
                .map(match => match[1].replace(/,+$/, ''))
            for (const element of all('img, picture source, link[imagesrcset]')) {
                const set = element.getAttribute('srcset') || element.getAttribute('imagesrcset')
                if (set) for (const url of candidates(set)) note(images, url, element)
                if (element.localName === 'img' && element.loading === 'lazy' && element.src) note(images, element.src, element)
            }
            for (const element of all('video')) if (element.poster) note(images, element.poster, element)
            for (const element of all('video, audio, video source, audio source')) if (element.src) note(media, element.src, element)
            const loaded = new Set(performance.getEntriesByType('resource').map(entry => entry.name))
            const kept = globalThis.kept = []
            for (const [url, crossOrigin] of images) {
                if (loaded.has(url)) continue
                const image = new Image()
                if (crossOrigin !== null && crossOrigin !== undefined) image.crossOrigin = crossOrigin
                image.src = url
                kept.push(image)
            }
            for (const [url, crossOrigin] of media) {
                if (loaded.has(url)) continue
                const video = document.createElement('video')
                if (crossOrigin !== null && crossOrigin !== undefined) video.crossOrigin = crossOrigin
                video.muted = true
                video.preload = 'metadata'
                video.src = url
                kept.push(video)
            }
            return kept.length
        })()
        """

    static let text = """
        ({ url: location.href, title: document.title, text: document.body ? document.body.innerText : '' })
        """
}
