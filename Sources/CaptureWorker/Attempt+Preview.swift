import CaptureAPI
import WebArchive

/// Previews: the medium, the photos or the document of a URL, without the page around it and without an archive.
extension Attempt {
    func preview() async throws -> PreviewFile {
        let url = try url()
        session.report(WorkerMessage(stage: .analysing))
        let isMedia = session.order.options.mode == .media
        if Genre(of: url).isDocument, !isMedia { return try await previewDocument() }
        do {
            let medium = try await medium(isGeneric: false)
            if !medium.probe.hasVideo, session.order.options.chosenForm == .video,
                let photos = try await previewPhotos(url)
            {
                return photos
            }
            return preview(found(medium, url))
        } catch let failure as ToolFailure where Self.mayBePhotos(failure) {
            if let photos = try await previewPhotos(url) { return photos }
            guard failure.code == .unsupported else { throw failure }
            return try await previewOfUnknownSite(url, isMedia: isMedia)
        }
    }

    private func previewOfUnknownSite(_ url: WebURL, isMedia: Bool) async throws -> PreviewFile {
        if !isMedia, case .document(let files) = try await document() { return preview(found(files)) }
        do {
            return preview(found(try await medium(isGeneric: true), url))
        } catch let failure as ToolFailure where failure.code == .unsupported {
            throw Self.nothingToPreview
        }
    }

    private func previewDocument() async throws -> PreviewFile {
        switch try await document() {
        case .document(let files): return preview(found(files))
        case .other: throw Self.nothingToPreview
        case .onlyForBrowsers(let failure): throw failure
        }
    }

    /// - Returns: `nil` if gallery-dl finds no images.
    private func previewPhotos(_ url: WebURL) async throws -> PreviewFile? {
        let attempt = PhotoAttempt(session: session)
        guard let photos = try await explained({ try await attempt.run() }) else { return nil }
        var preview = preview(try found(photos, attempt, url, time: .now()))
        preview.incomplete = photos.lack
        return preview
    }

    private func preview(_ found: FoundFile) -> PreviewFile {
        PreviewFile(
            file: relative(found.path), mediaType: found.mediaType, fileName: found.fileName,
            title: found.title, genre: found.genre, genreDetectionError: found.genreDetectionError)
    }

    private static let nothingToPreview = ToolFailure(
        .page, "this is a page; only videos, recordings, photos, PDFs and e-books can be previewed")
}
