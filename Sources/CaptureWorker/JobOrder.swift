package import CaptureAPI
import Foundation

/// `job.json`: what a worker has to do. The server writes it into the session folder, in which the worker runs.
package struct JobOrder: Sendable, Codable {
    /// The paths of the programs; `nil` for those that aren't installed.
    package struct Tools: Sendable, Codable {
        package var ytdlp: String?
        package var gallerydl: String?
        package var ffmpeg: String?
        package var ffprobe: String?
        package var curl: String?
        package var chromium: String?
        /// The folders in which tools find each other, in the form of `PATH`.
        package var path: String
    }

    package var downloadID: String
    package var url: String
    package var options: DownloadOptions
    package var tools: Tools
    /// Whether there is a cookies.txt in the session folder. Tools write into it.
    package var hasCookies: Bool
    /// The name and version of this program.
    package var software: String
    /// When the recording of a page ends.
    package var limits: RecordingLimits
    /// Whether no other attempt follows, whatever fails.
    package var isLast: Bool
    /// The folder `www`, with the replay engine; `nil` if replay isn't checked.
    package var assets: String?
    /// The path of an archive to replay; `nil` to save the URL.
    package var archive: String?

    package init(
        downloadID: String, url: String, options: DownloadOptions, tools: Tools, hasCookies: Bool, software: String,
        limits: RecordingLimits = RecordingLimits(), isLast: Bool = true, assets: String? = nil
    ) {
        (self.downloadID, self.url, self.options, self.tools) = (downloadID, url, options, tools)
        (self.hasCookies, self.software, self.limits) = (hasCookies, software, limits)
        (self.isLast, self.assets) = (isLast, assets)
    }
}

/// A line that a worker prints: what changed.
package struct WorkerMessage: Sendable, Codable {
    package var stage: DownloadStage?
    package var progress: DownloadProgress?
    package var title: String?
    package var genre: Genre?
    /// The last message has it.
    package var result: WorkerResult?
}

/// How an attempt ended.
package enum WorkerResult: Sendable, Codable {
    case success(SavedFiles)
    case preview(PreviewFile)
    /// What was seen when an archive was replayed; `nil` if it has nothing to compare.
    case replayed(String?)
    case failure(ToolFailure)
}

/// The files of a successful attempt, by their paths in the session folder.
package struct SavedFiles: Sendable, Codable {
    /// The WACZ.
    package var archive: String
    /// The SHA-256 of the WACZ, in hex.
    package var archiveSHA256: String
    /// The media file or document; `nil` for a page, which is only in the archive.
    package var file: String?
    package var fileSize: UInt64?
    /// `video/mp4`, for example.
    package var mediaType: String
    /// The name under which a person finds the file: `<media id>_<title>.<ext>`.
    package var fileName: String
    package var title: String
    package var genre: Genre
    /// Why the genre couldn't be found out.
    package var genreDetectionError: String?
    /// What is missing: a limit that was reached, or the half that failed. `nil` if nothing is.
    package var incomplete: String?
    /// What was seen when the archive was replayed; `nil` if that wasn't tried.
    package var replayCheck: String?
    /// Whether the file belongs to no genre, but to the folder `files`.
    package var isOrdinaryFile: Bool?
}

/// The file of a preview.
package struct PreviewFile: Sendable, Codable {
    /// Its path in the session folder.
    package var file: String
    /// `video/mp4`, for example.
    package var mediaType: String
    /// The name under which a person can save it.
    package var fileName: String
    package var title: String
    package var genre: Genre
    /// Why the genre couldn't be found out.
    package var genreDetectionError: String?
    /// What is missing; `nil` if nothing is.
    package var incomplete: String?
}

/// The names of files in a session folder.
package enum SessionFile {
    package static let order = "job.json"
    package static let log = "log.txt"
    /// The guard's socket: the only way to the network.
    package static let egressSocket = "egress.sock"
    /// What the guard let through and refused, as JSON lines.
    package static let egressRecord = "egress.jsonl"
    /// Finished files of a tool.
    static let output = "out"
    /// Parts of a tool, which the next attempt continues, and its temporary files.
    static let parts = "parts"
    package static let cookies = "cookies.txt"
    /// The folders that the next attempt continues.
    package static let continued = [output, parts]
}
