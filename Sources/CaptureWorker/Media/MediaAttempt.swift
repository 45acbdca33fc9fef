import ArchiveStore
import CaptureAPI
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Fetches a medium with yt-dlp and checks it with ffprobe.
struct MediaAttempt {
    let session: WorkerSession

    /// The medium and what belongs to it, in the session folder.
    struct Files {
        let media: String
        let info: MediaInfo
        let probe: MediaProbe
        let subtitles: [(language: String, path: String)]
        let poster: String?
    }

    /// - Parameter isGeneric: See `MediaTool`.
    /// - Throws: `ToolFailure`.
    func run(isGeneric: Bool) async throws -> Files {
        guard let ytdlp = session.order.tools.ytdlp else {
            throw ToolFailure(.toolMissing, "yt-dlp isn't installed; run `make setup-capture`")
        }
        let tool = MediaTool(order: session.order, folder: session.folder, isGeneric: isGeneric)
        let report = Mutex(MediaToolReport())
        session.log.add("yt-dlp " + tool.arguments.joined(separator: " "))
        let end = try await session.run(ytdlp, tool.arguments) { stream, line in
            if !MediaToolReport.isLeftOutOfLog(line) { session.log.add(line, from: "yt-dlp") }
            if let message = report.withLock({ $0.read(line, from: stream) }) { session.report(message) }
        }
        session.log.add("yt-dlp ended: \(end)")
        let found = report.withLock { $0 }
        let media = try found.file.flatMap(checked)
        guard end == .exited(0), let media else { throw ToolFailure(found, end) }
        session.report(WorkerMessage(stage: .checking))
        return try await files(of: media)
    }

    /// Returns the path of a finished file; `nil` if there is none.
    ///
    /// - Throws: `ToolFailure` for a file outside the session folder, and for an empty one.
    private func checked(_ path: String) throws -> String? {
        let name = (path as NSString).lastPathComponent
        let expected = "\(session.output)/\(name)"
        guard path == expected, name.hasPrefix(MediaTool.stem + ".") else {
            throw ToolFailure(.damaged, "yt-dlp wrote a file outside of its folder")
        }
        guard Folder.exists(expected) else { return nil }
        guard let size = Folder.fileSize(expected), size > 0 else {
            throw ToolFailure(.noFile, "yt-dlp left an empty file")
        }
        return expected
    }

    private func files(of media: String) async throws -> Files {
        let names = try Folder.names(in: session.output)
        let subtitles = names.filter { $0.hasPrefix(MediaTool.stem + ".") && $0.hasSuffix(".vtt") }.map { name in
            (language: String(name.dropFirst(MediaTool.stem.count + 1).dropLast(4)), path: "\(session.output)/\(name)")
        }
        let poster = names.first { $0 == MediaTool.stem + ".jpg" }.map { "\(session.output)/\($0)" }
        return Files(
            media: media, info: try MediaInfo(path: "\(session.output)/\(MediaTool.stem).info.json"),
            probe: try await probe(media), subtitles: subtitles.filter { Folder.isFile($0.path) }, poster: poster)
    }

    private func probe(_ media: String) async throws -> MediaProbe {
        guard let ffprobe = session.order.tools.ffprobe else {
            throw ToolFailure(.toolMissing, "ffmpeg isn't installed; run `make setup-capture`")
        }
        let output = Mutex("")
        let end = try await session.run(ffprobe, MediaProbe.arguments(media)) { stream, line in
            if stream == .output {
                output.withLock { $0 += line + "\n" }
            } else {
                session.log.add(line, from: "ffprobe")
            }
        }
        guard end == .exited(0) else { throw ToolFailure(.damaged, "ffprobe can't read the file") }
        return try MediaProbe(json: output.withLock { $0 })
    }
}
