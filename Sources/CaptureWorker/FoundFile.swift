import ArchiveStore
import CaptureAPI
import Foundation
import WebArchive

/// What was fetched, as a file for people.
struct FoundFile {
    /// Absolute.
    let path: String
    /// `video/mp4`, for example.
    let mediaType: String
    /// `<id>_<title>.<ext>`
    let fileName: String
    let title: String
    let genre: Genre
    /// Why the genre couldn't be found out.
    var genreDetectionError: String?
    /// Whether it belongs to no genre.
    var isOrdinary = false
}

extension Attempt {
    func found(_ files: MediaAttempt.Files, _ url: WebURL) -> FoundFile {
        let (genre, problem) = Self.genre(of: url, files.info.extractor, tool: "yt-dlp")
        let title = Self.title(files.info.title)
        session.report(WorkerMessage(stage: .checking, title: title, genre: genre))
        let ending = (files.media as NSString).pathExtension.lowercased()
        return FoundFile(
            path: files.media, mediaType: MediaType.of(ending, isVideo: files.probe.hasVideo),
            fileName: FileName.make(id: files.info.id, title: files.info.title, extension: ending), title: title,
            genre: genre, genreDetectionError: problem)
    }

    func found(
        _ files: PhotoAttempt.Files, _ attempt: PhotoAttempt, _ url: WebURL, time: CaptureTimestamp
    ) throws -> FoundFile {
        let (genre, problem) = Self.genre(of: url, files.extractor, tool: "gallery-dl")
        let title = Self.title(files.title)
        session.report(WorkerMessage(stage: .checking, title: title, genre: genre))
        let file = try attempt.file(files, time: time)
        let ending = (file as NSString).pathExtension.lowercased()
        let id = files.id.isEmpty ? String(session.order.downloadID.prefix(8)) : files.id
        return FoundFile(
            path: file, mediaType: MediaType.of(ending),
            fileName: FileName.make(id: id, title: files.title, extension: ending), title: title, genre: genre,
            genreDetectionError: problem)
    }

    func found(_ files: DocumentAttempt.Files) -> FoundFile {
        let component = WebURL(files.url)?.path.split(separator: "/").last.map(String.init) ?? ""
        let name = (files.head.fileName ?? component.removingPercentEncoding ?? component) as NSString
        let isOrdinary = files.genre == .unknown
        let ending =
            isOrdinary
            ? OrdinaryFile.ending(of: name as String, type: files.mediaType) : ending(of: name, files.genre)
        let isNamed = name.pathExtension.lowercased() == ending
        let stem = (isNamed ? name.deletingPathExtension : name as String).split(separator: "/").last.map(String.init)
        let title = Self.title(stem ?? "Document")
        session.report(WorkerMessage(stage: .checking, title: title, genre: files.genre))
        return FoundFile(
            path: files.path,
            mediaType: isOrdinary || Genre(mediaType: files.mediaType) != nil ? files.mediaType : MediaType.of(ending),
            fileName: FileName.make(id: String(session.order.downloadID.prefix(8)), title: title, extension: ending),
            title: title, genre: files.genre,
            genreDetectionError: isOrdinary ? "there is no genre for files of this type (\(files.mediaType))" : nil,
            isOrdinary: isOrdinary)
    }

    /// The ending of a document's name.
    private func ending(of name: NSString, _ genre: Genre) -> String {
        let own = name.pathExtension.lowercased()
        return Genre.endings.contains(own) ? own : genre == .pdf ? "pdf" : "epub"
    }

    /// The genre of a URL, or else of a tool's extractor; and why it isn't known.
    private static func genre(of url: WebURL, _ extractor: String?, tool: String) -> (Genre, problem: String?) {
        let known = Genre(of: url)
        let genre = known == .unknown ? extractor.flatMap { Genre(extractor: $0) } ?? .unknown : known
        guard genre == .unknown else { return (genre, nil) }
        return (genre, "no genre for this site (\(tool)'s extractor: \(extractor ?? "unknown"))")
    }
}
