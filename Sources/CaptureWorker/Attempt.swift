import ArchiveStore
import CaptureAPI
import EgressGuard
import Foundation
import WebArchive

/// One attempt at a download: finds out what the URL is, fetches it, packs it, and checks the result.
package struct Attempt: Sendable {
    let session: WorkerSession

    /// Runs the attempt. Its last message is the result.
    ///
    /// - Parameters:
    ///   - folder: The session folder, absolute, with `job.json` and the guard's socket. It is the current folder.
    ///   - emit: Called with what changes.
    package static func run(
        in folder: String, emit: @escaping @Sendable (WorkerMessage) -> Void
    ) async throws {
        let order = try JSONDecoder().decode(
            JobOrder.self, from: Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(SessionFile.order)")))
        if order.archive != nil {
            // Without a guard: nothing leads out.
            return try await Attempt(session: WorkerSession(order: order, folder: folder, proxyPort: 9, emit: emit))
                .run()
        }
        try await EgressRelay.with(socket: SessionFile.egressSocket) { port in
            let session = try WorkerSession(order: order, folder: folder, proxyPort: port, emit: emit)
            try await Attempt(session: session).run()
        }
    }

    private func run() async throws {
        let result: WorkerResult
        do {
            if let archive = session.order.archive {
                result = .replayed(try await ReplayCheck(session: session).run(archive))
            } else if session.order.options.disposition == .preview {
                result = .preview(try await session.memory.during { try await preview() })
            } else {
                result = .success(try await session.memory.during { try await save() })
            }
        } catch let failure as ToolFailure {
            session.log.add("failed: \(failure.code.rawValue): \(failure.message)")
            result = .failure(failure.saying(session.redaction.redacted(failure.message)))
        } catch let error as WebArchiveError {
            session.log.add("failed: \(error)")
            result = .failure(ToolFailure(error.code == .noSpace ? .diskFull : .damaged, error.problem))
        } catch let error as StoreError {
            session.log.add("failed: \(error)")
            result = .failure(ToolFailure(error.code == .noSpace ? .diskFull : .toolFailed, error.what))
        }
        session.report(WorkerMessage(result: result))
    }

    func medium(isGeneric: Bool) async throws -> MediaAttempt.Files {
        try await explained { try await MediaAttempt(session: session).run(isGeneric: isGeneric) }
    }

    func document() async throws -> DocumentAttempt.Outcome {
        try await explained { try await DocumentAttempt(session: session).run() }
    }

    /// If the last connection of a tool was refused, says why: tools only see that their proxy sent an error. Chromium also
    /// connects for itself, so this isn't for pages.
    func explained<Success>(_ body: () async throws -> Success) async throws -> Success {
        do {
            return try await body()
        } catch let failure as ToolFailure {
            guard [.network, .toolFailed, .loginRequired, .unsupported, .noFile].contains(failure.code) else {
                throw failure
            }
            throw session.egress.events.last?.failure ?? failure
        }
    }

    func url() throws -> WebURL {
        guard let url = WebURL(session.order.url) else {
            throw ToolFailure(.unsupported, "this isn't a URL that can be saved")
        }
        return url
    }

    private func save() async throws -> SavedFiles {
        let url = try url()
        // Of an earlier attempt, which didn't finish it.
        for name in try Folder.names(in: session.folder) where name.hasSuffix(".wacz") {
            try Folder.delete("\(session.folder)/\(name)")
        }
        session.report(WorkerMessage(stage: .analysing))
        let mode = session.order.options.mode ?? .auto
        if mode == .page { return try await pack(recordPage()) }
        if Genre(of: url).isDocument, mode == .auto {
            switch try await document() {
            case .document(let files): return try await pack(files)
            case .other(let type): return try await savePage(of: type)
            case .onlyForBrowsers(let failure): return try await saveByBrowser(or: failure)
            }
        }
        switch try await result({ try await medium(isGeneric: false) }) {
        case .success(let medium):
            if !medium.probe.hasVideo, session.order.options.chosenForm == .video,
                let saved = try await savePhotos(url, after: nil)
            {
                return saved
            }
            return try await save(medium, url)
        case .failure(let failure):
            if Self.mayBePhotos(failure), let saved = try await savePhotos(url, after: failure) { return saved }
            if failure.code == .unsupported { return try await saveFromUnknownSite(url, isMedia: mode == .media) }
            if failure.code == .noVideo, mode == .auto { return try await savePage(lack: nil, or: failure) }
            guard mode == .auto, keepsPage(without: failure) else { throw failure }
            return try await savePage(lack: "The media isn't saved: \(Self.sentence(failure.message))", or: failure)
        }
    }

    func result<Success>(
        _ body: () async throws -> Success
    ) async throws -> Result<Success, ToolFailure> {
        do {
            return .success(try await body())
        } catch let failure as ToolFailure {
            return .failure(failure)
        }
    }

    /// Saves a medium of a site that an extractor knows.
    private func save(_ medium: MediaAttempt.Files, _ url: WebURL) async throws -> SavedFiles {
        session.report(WorkerMessage(title: Self.title(medium.info.title)))
        let (page, lack) = try await pageBeside()
        return try await pack(medium, url, page, incomplete: lack)
    }

    /// Whether there can be images at a URL of which yt-dlp makes nothing.
    static func mayBePhotos(_ failure: ToolFailure) -> Bool {
        [.unsupported, .noVideo, .toolFailed, .noFile].contains(failure.code)
    }

    /// Saves the images of a post; if gallery-dl knows it and can't fetch them, its page.
    ///
    /// - Parameter failure: Why yt-dlp failed; `nil` if it found only the sound.
    /// - Returns: `nil` if gallery-dl finds no images.
    private func savePhotos(_ url: WebURL, after failure: ToolFailure?) async throws -> SavedFiles? {
        let attempt = PhotoAttempt(session: session)
        let isAuto = session.order.options.mode != .media
        let isOnlyForPhotos = failure.map { [.unsupported, .noVideo].contains($0.code) } ?? false
        switch try await result({ try await explained { try await attempt.run() } }) {
        case .success(let photos?):
            session.report(WorkerMessage(title: Self.title(photos.title)))
            let (page, lack) = try await pageBeside()
            let other =
                failure.map { "The media isn't saved: \(Self.sentence($0.message))" } ?? "The sound isn't saved."
            return try await pack(photos, attempt, url, page, [isOnlyForPhotos ? nil : other, photos.lack, lack])
        case .success(nil): return nil
        case .failure(let photoFailure):
            guard isOnlyForPhotos else { return nil }
            guard isAuto, keepsPage(without: photoFailure) else { throw photoFailure }
            let lack = "The photos aren't saved: \(Self.sentence(photoFailure.message))"
            return try await savePage(lack: lack, or: photoFailure)
        }
    }

    /// Records the page around a medium: in the mode `auto`, and with a browser.
    ///
    /// - Returns: The page, and what is missing.
    private func pageBeside() async throws -> (page: RecordedPage?, lack: String?) {
        guard session.order.options.mode != .media, session.order.tools.chromium != nil else { return (nil, nil) }
        switch try await result({ try await recordPage() }) {
        case .success(let page): return (page, limitSentence(page))
        case .failure(let failure) where failure.code == .diskFull: throw failure
        case .failure(let failure): return (nil, "The page isn't saved: \(Self.sentence(failure.message))")
        }
    }

    /// Whether the page of a medium that failed is worth keeping. The page of one that is private or gone only says so.
    private func keepsPage(without failure: ToolFailure) -> Bool {
        switch failure.code {
        case .notFound, .isPrivate, .removed, .loginRequired, .quality, .diskFull, .toolMissing, .refused: false
        default: session.order.isLast || !failure.code.isTransient
        }
    }

    /// Saves the page of a medium that can't be saved; if the page can't either, fails because of the medium.
    private func savePage(lack: String?, or failure: ToolFailure) async throws -> SavedFiles {
        if let lack { session.log.add(lack) }
        guard case .success(let page) = try await result({ try await recordPage() }) else { throw failure }
        return try await pack(page, lack: lack)
    }

    private static func joined(_ sentences: [String?]) -> String? {
        let known = sentences.compactMap { $0 }
        return known.isEmpty ? nil : known.joined(separator: " ")
    }

    private static func sentence(_ message: String) -> String { message.hasSuffix(".") ? message : message + "." }

    /// Saves what no extractor for a site takes: a document, a page, or what the generic extractor finds.
    private func saveFromUnknownSite(_ url: WebURL, isMedia: Bool) async throws -> SavedFiles {
        // The browser decides what it is, so that the site is asked once.
        if !isMedia, session.order.tools.chromium != nil { return try await saveByBrowser() }
        let outcome = isMedia ? .other(mediaType: "text/html") : try await document()
        if case .document(let files) = outcome { return try await pack(files) }
        if case .onlyForBrowsers(let failure) = outcome { return try await saveByBrowser(or: failure) }
        guard case .other(let type) = outcome else { throw ToolFailure(.unsupported, "this can't be saved") }
        let isPage = OrdinaryFile.pageTypes.contains(type)
        // The generic extractor also takes what a page only shows beside its text. Without a browser, that's better than
        // nothing.
        do {
            return try await pack(try await medium(isGeneric: true), url)
        } catch let failure as ToolFailure where failure.code == .unsupported {
            guard isPage else { throw failure }
            guard !isMedia else { throw ToolFailure(.page, "no video or audio was found at this URL") }
            return try await savePage(of: type)
        }
    }

    private func savePage(of type: String) async throws -> SavedFiles {
        guard OrdinaryFile.pageTypes.contains(type) else {
            throw ToolFailure(
                .unsupported, "this can't be saved: it's \(type), not a page, video, audio file, PDF or e-book")
        }
        return try await saveByBrowser()
    }

    private func recordPage() async throws -> RecordedPage {
        do {
            return try await PageRecorder(session: session, limits: session.order.limits).run()
        } catch let other as NotAPage {
            throw other.failure
        }
    }

    /// Saves what a browser gets of a site that refuses other programs, or that redirects until it gets its cookie back.
    ///
    /// - Parameter failure: Why curl failed, which counts without a browser.
    private func saveByBrowser(or failure: ToolFailure) async throws -> SavedFiles {
        guard session.order.tools.chromium != nil else { throw failure }
        session.log.add("curl: \(failure.message). The browser tries it.")
        return try await saveByBrowser()
    }

    /// Saves what a browser gets: a page, or a file. A large file, which the browser doesn't keep, is fetched by curl with the
    /// browser's header fields, and a video by yt-dlp.
    private func saveByBrowser() async throws -> SavedFiles {
        let recorder = PageRecorder(session: session, limits: session.order.limits, takesDocuments: false)
        do {
            return try await pack(try await recorder.run())
        } catch let other as NotAPage {
            let attempt = DocumentAttempt(session: session, browser: other)
            switch try await explained({ try await attempt.run() }) {
            case .document(let files): return try await pack(files)
            case .other(let type):
                guard !OrdinaryFile.pageTypes.contains(type) else { throw other.failure }
                do {
                    return try await pack(medium(isGeneric: true), url())
                } catch let failure as ToolFailure where failure.code == .unsupported {
                    throw other.failure
                }
            case .onlyForBrowsers(let failure): throw failure
            }
        }
    }

    /// Which limit ended the recording of a page, or what of it ended too early; `nil` if it's complete.
    private func limitSentence(_ page: RecordedPage) -> String? {
        let limit = page.limit ?? (session.memory.hasEnded ? .memory : nil)
        return limit.map { session.order.limits.sentence($0) } ?? page.cutSentence
    }

    /// - Parameter lack: What is missing besides; `nil` if nothing is.
    private func pack(_ page: RecordedPage, lack: String? = nil) async throws -> SavedFiles {
        let title = Self.title(page.title.isEmpty ? WebURL(page.url)?.host ?? "" : page.title)
        session.report(WorkerMessage(stage: .checking, title: title, genre: .unknown))
        let name = FileName.make(id: String(session.order.downloadID.prefix(8)), title: title, extension: "html")
        let pack = try ArchivePack(session: session, title: title, fileName: name, time: .now())
        let incomplete = Self.joined([lack, limitSentence(page)])
        try pack.pack(page, incomplete: incomplete)
        return try await saved(pack, nil, incomplete: incomplete)
    }

    private func pack(
        _ files: MediaAttempt.Files, _ url: WebURL, _ page: RecordedPage? = nil, incomplete: String? = nil
    ) async throws -> SavedFiles {
        let found = found(files, url)
        let pack = try ArchivePack(session: session, title: found.title, fileName: found.fileName, time: .now())
        try pack.pack(files, page, incomplete: incomplete)
        return try await saved(pack, found, incomplete: incomplete)
    }

    private func pack(
        _ files: PhotoAttempt.Files, _ attempt: PhotoAttempt, _ url: WebURL, _ page: RecordedPage?, _ lacks: [String?]
    ) async throws -> SavedFiles {
        let time = try CaptureTimestamp.now()
        let found = try found(files, attempt, url, time: time)
        let incomplete = Self.joined(lacks)
        let pack = ArchivePack(session: session, title: found.title, fileName: found.fileName, time: time)
        try pack.pack(files, page, incomplete: incomplete)
        return try await saved(pack, found, incomplete: incomplete)
    }

    private func pack(_ files: DocumentAttempt.Files) async throws -> SavedFiles {
        let found = found(files)
        let pack = try ArchivePack(session: session, title: found.title, fileName: found.fileName, time: .now())
        try pack.pack(files)
        return try await saved(pack, found)
    }

    /// Verifies the archive: its structure and every hash in it. Then replays it.
    ///
    /// - Parameter found: The file besides; `nil` for a page, which is only in the archive.
    private func saved(
        _ pack: ArchivePack, _ found: FoundFile?, incomplete: String? = nil
    ) async throws -> SavedFiles {
        let wacz = try WACZFile.open(FileByteSource(path: pack.path))
        let verification = try ArchiveVerifier(wacz, lookups: FileLookups(wacz)) { _, _ in
            session.report(WorkerMessage())
        }.run()
        if let finding = verification.findings.first(where: { $0.severity > .notice }) {
            throw ToolFailure(.damaged, "the archive that was made isn't intact: \(finding.what)")
        }
        let archive = try Descriptor(path: pack.path, flags: O_RDONLY)
        let (size, sha256) = try FileHash.of(archive) { _ in session.report(WorkerMessage()) }
        session.log.add("made an archive of \(size) bytes, SHA-256 \(sha256)")
        if let incomplete { session.log.add(incomplete) }
        let canReplay = session.order.assets != nil && session.order.tools.chromium != nil
        let check = canReplay ? try await ReplayCheck(session: session).run(pack.path) : nil
        let file = try found.map { try Descriptor(path: $0.path, flags: O_RDONLY) }
        return SavedFiles(
            archive: relative(pack.path), archiveSHA256: sha256, file: found.map { relative($0.path) },
            fileSize: try file?.size(), mediaType: found?.mediaType ?? "text/html", fileName: pack.fileName,
            title: pack.title, genre: found?.genre ?? .unknown, genreDetectionError: found?.genreDetectionError,
            incomplete: incomplete, replayCheck: check, isOrdinaryFile: found?.isOrdinary)
    }

    /// A path as it's seen from the session folder.
    func relative(_ path: String) -> String { String(path.dropFirst(session.folder.count + 1)) }

    static func title(_ text: String) -> String {
        ArchiveMetadata.title(from: String(text.prefix(250)))
    }
}
