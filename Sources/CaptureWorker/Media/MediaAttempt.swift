import ArchiveStore
import CaptureAPI
import Foundation
import Synchronization

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
        do {
            return try await run(MediaTool(session, isGeneric: isGeneric))
        } catch let failure as ToolFailure where failure.code == .toolFailed {
            // Subtitles in a format that yt-dlp can't convert, for example.
            session.log.add("trying again without subtitles and poster, since: \(failure.message)")
            return try await run(MediaTool(session, isGeneric: isGeneric, fetchesExtras: false))
        }
    }

    private func run(_ tool: MediaTool) async throws -> Files {
        guard let ytdlp = session.order.tools.ytdlp else {
            throw ToolFailure.missing(.ytdlp)
        }
        let report = Mutex(MediaToolReport())
        session.log.add("yt-dlp " + tool.arguments.joined(separator: " "))
        let end = try await session.run(ytdlp, tool.arguments) { stream, line in
            if !MediaToolReport.isLeftOutOfLog(line) { session.log.add(line, from: "yt-dlp") }
            if let message = report.withLock({ $0.read(line, from: stream) }) { session.report(message) }
        }
        session.log.add("yt-dlp ended: \(end)")
        let found = report.withLock { $0 }
        // Success is a file that is there and can be read, whatever the exit code. A conversion that failed left the wrong one.
        let isConverted = found.error?.hasPrefix("Postprocessing:") != true
        guard isConverted, let media = try found.file.flatMap(checked) else {
            throw ToolFailure(found, end, limitsQuality: session.order.options.limitsQuality)
        }
        session.report(WorkerMessage(stage: .checking))
        let probe = try await resampled(media, try await probe(media))
        return try files(of: media, probe: probe)
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

    private func files(of media: String, probe: MediaProbe) throws -> Files {
        let names = try Folder.names(in: session.output)
        let subtitles = names.filter { $0.hasPrefix(MediaTool.stem + ".") && $0.hasSuffix(".vtt") }.map { name in
            (language: String(name.dropFirst(MediaTool.stem.count + 1).dropLast(4)), path: "\(session.output)/\(name)")
        }
        let poster = names.first { $0 == MediaTool.stem + ".jpg" }.map { "\(session.output)/\($0)" }
        return Files(
            media: media,
            info: try MediaInfo(
                path: "\(session.output)/\(MediaTool.stem).info.json", redaction: session.redaction),
            probe: probe, subtitles: subtitles.filter { Folder.isFile($0.path) }, poster: poster)
    }

    /// Converts audio to the wanted sample rate. yt-dlp doesn't if it only copies the audio.
    private func resampled(_ media: String, _ probe: MediaProbe) async throws -> MediaProbe {
        let options = session.order.options
        guard options.chosenForm == .audio, let hertz = options.audioQuality?.hertz, probe.sampleRate != hertz else {
            return probe
        }
        guard let ffmpeg = session.order.tools.ffmpeg else {
            throw ToolFailure.missing(.ffmpeg)
        }
        session.report(WorkerMessage(stage: .merging))
        let converted = "\(session.parts)/resampled.\((media as NSString).pathExtension)"
        let arguments = [
            "-nostdin", "-loglevel", "error", "-y", "-i", media, "-map", "0:a:0", "-map_metadata", "0", "-ar",
            "\(hertz)",
            converted,
        ]
        session.log.add("ffmpeg " + arguments.joined(separator: " "))
        let end = try await session.run(ffmpeg, arguments) { _, line in session.log.add(line, from: "ffmpeg") }
        guard end == .exited(0) else { throw ToolFailure(.quality, "ffmpeg can't convert the audio to \(hertz) Hz") }
        try Folder.move(converted, to: media)
        return try await self.probe(media)
    }

    private func probe(_ media: String) async throws -> MediaProbe {
        guard let ffprobe = session.order.tools.ffprobe else {
            throw ToolFailure.missing(.ffprobe)
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

extension MediaTool {
    fileprivate init(_ session: WorkerSession, isGeneric: Bool, fetchesExtras: Bool = true) {
        self.init(
            order: session.order, folder: session.folder, proxy: session.proxy, isGeneric: isGeneric,
            fetchesExtras: fetchesExtras)
    }
}
