import ArchiveStore
import CaptureAPI
import Foundation
import Synchronization
import WebArchive

/// Fetches the images of a post with gallery-dl.
struct PhotoAttempt {
    let session: WorkerSession

    /// The images and what the site says about them, in the session folder.
    struct Files {
        let id: String
        let title: String
        let uploader: String?
        let description: String?
        /// Such as `instagram`.
        let extractor: String?
        /// The paths of the images, in the order of the post.
        let photos: [String]
        /// Whether there are more images than are fetched, or some couldn't be fetched.
        let lack: String?

        /// The images with the names that they have in the archive and in the ZIP.
        var named: [(name: String, path: String)] {
            photos.enumerated().map { number, path in
                ("photo-\(number < 9 ? "0" : "")\(number + 1).\((path as NSString).pathExtension.lowercased())", path)
            }
        }
    }

    /// More images are those of a profile, not of a post.
    private static let photosMax = 100
    static let endings = ["jpg", "jpeg", "png", "gif", "webp", "avif", "heic", "bmp", "jxl"]

    /// What gallery-dl calls a single work. Anything else, such as a user or a search, ends at once. Source: `subcategory` in
    /// `gallery_dl/extractor/*.py`.
    private static let kinds = [
        "album", "art", "article", "artwork", "asset", "deviation", "gallery", "image", "item", "journal",
        "media-asset", "photo", "pin", "post", "set", "stash", "status", "story", "submission", "tweet", "vmpost",
        "wall-post", "work",
    ]

    private var folder: String { "\(session.output)/photos" }

    /// - Returns: `nil` if gallery-dl isn't installed, doesn't know the site, or finds no images.
    /// - Throws: `ToolFailure` if it finds images and can't fetch them.
    func run() async throws -> Files? {
        guard let program = session.order.tools.gallerydl else { return nil }
        if Folder.exists(folder) { try FileManager.default.removeItem(atPath: folder) }
        let arguments = arguments
        session.log.add("gallery-dl " + arguments.joined(separator: " "))
        let output = Mutex<(paths: [String], error: String?)>(([], nil))
        let end = try await session.run(program, arguments) { stream, line in
            session.log.add(line, from: "gallery-dl")
            output.withLock { output in
                if stream == .output {
                    // A file that was there already, of the same post, is marked.
                    output.paths.append(line.hasPrefix("# ") ? String(line.dropFirst(2)) : line)
                } else if line.contains("][error]") {
                    output.error = String(line.prefix(500))
                }
            }
        }
        session.log.add("gallery-dl ended: \(end)")
        let (paths, error) = output.withLock { $0 }
        let photos = paths.filter(isPhoto)
        if photos.isEmpty {
            guard let failure = failure(end, error) else { return nil }
            throw failure
        }
        return try files(photos, end)
    }

    private var arguments: [String] {
        func list(_ names: [String]) -> String { names.map { "'\($0)'" }.joined(separator: ", ") }
        // A direct link has the site as its kind.
        let filter = "(subcategory in (\(list(Self.kinds))) or abort()) and extension in (\(list(Self.endings)))"
        return [
            "--config-ignore", "--no-input", "--no-colors", "--no-mtime", "--proxy", session.proxy,
            "--retries", "3", "--http-timeout", "30",
            // One more shows that there are more.
            "--range", "1-\(Self.photosMax + 1)", "--filter", filter,
            "--directory", folder, "--write-info-json",
        ] + (session.order.hasCookies ? ["--cookies", "\(session.folder)/\(SessionFile.cookies)"] : [])
            + ["--", session.order.url]
    }

    /// Whether a path that gallery-dl printed is an image in its folder.
    private func isPhoto(_ path: String) -> Bool {
        let name = (path as NSString).lastPathComponent
        return path == "\(folder)/\(name)" && Self.endings.contains((name as NSString).pathExtension.lowercased())
            && Folder.isFile(path) && (Folder.fileSize(path) ?? 0) > 0
    }

    /// gallery-dl's exit code is a sum of these. Source: `gallery_dl/exception.py`.
    private func failure(_ end: ToolRun.End, _ error: String?) -> ToolFailure? {
        guard case .exited(let code) = end else { return ToolFailure(.aborted, "gallery-dl ended: \(end)") }
        let message = error ?? "gallery-dl failed with exit code \(code)"
        if code == 0 || code & 64 != 0 { return nil }
        if code & 16 != 0 { return ToolFailure(.loginRequired, message) }
        if code & 8 != 0 { return ToolFailure(.notFound, message) }
        if code & 4 != 0 { return ToolFailure(.network, message) }
        return ToolFailure(.toolFailed, message)
    }

    private func files(_ photos: [String], _ end: ToolRun.End) throws -> Files {
        let kept = Array(photos.prefix(Self.photosMax))
        let info = FileManager.default.contents(atPath: "\(folder)/info.json").flatMap { data in
            data.count < Self.infoBytesMax ? try? JSONSerialization.jsonObject(with: data) as? [String: Any] : nil
        }
        /// The first text under one of these names. Each extractor has its own.
        func text(_ keys: [String]) -> String? {
            for key in keys {
                if let text = info?[key] as? String, !text.isEmpty { return String(text.prefix(Self.textMax)) }
                if let number = info?[key] as? NSNumber { return number.stringValue }
                if let name = (info?[key] as? [String: Any])?["name"] as? String, !name.isEmpty { return name }
            }
            return nil
        }
        let description = text(["description", "content", "caption", "text", "body"])
        let firstLine = description?.split(separator: "\n").first.map { String($0.prefix(100)) }
        let lack =
            photos.count > kept.count
            ? "Only the first \(Self.photosMax) photos are saved."
            : end == .exited(0) ? nil : "Some photos couldn't be fetched."
        let uploader = text(["username", "author", "uploader", "user", "artist", "owner"])
        return Files(
            id: text(["post_shortcode", "shortcode", "post_id", "tweet_id", "id"]) ?? "",
            title: text(["title"]) ?? firstLine ?? uploader.map { "Photos by \($0)" } ?? "Photos",
            uploader: uploader, description: description, extractor: text(["category"]), photos: kept, lack: lack)
    }

    private static let infoBytesMax = 8 << 20
    private static let textMax = 20_000

    /// Makes the file for the person's folder: the image, or a ZIP of several.
    ///
    /// - Returns: The path.
    func file(_ files: Files, time: CaptureTimestamp) throws -> String {
        if files.photos.count == 1 { return files.photos[0] }
        let path = "\(session.output)/photos.zip"
        try Folder.delete(path)
        let zip = try NewZIP(path: path, modified: time)
        for photo in files.named {
            try zip.add(photo.name, FileByteSource(path: photo.path)) { _ in session.report(WorkerMessage()) }
        }
        try zip.finish()
        return path
    }
}
