import ArchiveStore
package import CaptureAPI
package import Foundation
import Subprocess
import Synchronization

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// The programs that saving needs. They are looked for in the environment of yt-dlp, then on `PATH`.
package struct Toolbox: Sendable {
    package enum Tool: String, Sendable, CaseIterable {
        case ytdlp = "yt-dlp"
        case gallerydl = "gallery-dl"
        case deno, ffmpeg, ffprobe, curl, chromium
        case bubblewrap = "bwrap"

        /// The argument that prints the version.
        fileprivate var versionArgument: String { self == .ffmpeg || self == .ffprobe ? "-version" : "--version" }

        /// What doesn't work without it; `nil` if nothing does.
        package var isOnlyFor: String? {
            switch self {
            case .gallerydl: "posts of photos need it"
            case .deno: "YouTube needs it"
            case .chromium: "pages need it"
            case .bubblewrap: "it confines the others"
            default: nil
            }
        }

        /// How to install it, for people.
        package var remedy: String {
            switch self {
            case .ytdlp, .gallerydl, .deno: "run `replayhost-capture tools install`"
            case .ffmpeg, .ffprobe: "install ffmpeg: `sudo apt install ffmpeg`"
            case .bubblewrap: "install bubblewrap: `sudo apt install bubblewrap`"
            case .curl, .chromium: "install it: `sudo apt install \(rawValue)`"
            }
        }
    }

    /// The folder of yt-dlp's environments.
    package let root: String
    private let path: String
    /// Another browser than `chromium`: its path, or its name on `PATH`.
    private let browser: String?

    package init(environment: [String: String]) {
        root = ToolEnvironment.root(environment)
        path = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        browser = environment["CHROMIUM"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The folders to look in, in the form of `PATH`.
    package var searchPath: String { "\(root)/current/bin:\(path)" }

    /// Returns the path of a program; `nil` if it isn't installed.
    package func path(of tool: Tool) -> String? {
        let name = tool == .chromium ? browser ?? tool.rawValue : tool.rawValue
        let places = name.contains("/") ? [name] : searchPath.split(separator: ":").map { "\($0)/\(name)" }
        return places.first { access($0, X_OK) == 0 && Folder.isFile($0) }
    }

    /// Whether a program is a snap, or a script that starts one: its files are outside of the session folder's reach.
    package static func isSnap(_ path: String) -> Bool {
        let target = Folder.resolved(path)
        if target.hasPrefix("/snap/") || target.hasSuffix("/snap") { return true }
        guard let file = FileHandle(forReadingAtPath: target), let start = try? file.read(upToCount: 4 << 10) else {
            return false
        }
        return start.starts(with: Data("#!".utf8)) && String(decoding: start, as: UTF8.self).contains("/snap/bin/")
    }

    /// The tools for a worker.
    package var forWorker: JobOrder.Tools {
        JobOrder.Tools(
            ytdlp: path(of: .ytdlp), gallerydl: path(of: .gallerydl), ffmpeg: path(of: .ffmpeg),
            ffprobe: path(of: .ffprobe), curl: path(of: .curl), chromium: path(of: .chromium), path: searchPath)
    }

    /// Returns the tools that a URL needs and that aren't installed.
    package func missing(for url: String, _ mode: DownloadOptions.Mode? = nil) -> [Tool] {
        let isDocument = WebURL(url).map { Genre(of: $0).isDocument } ?? false
        let needed: [Tool] =
            mode == .page ? [.curl, .chromium] : isDocument ? [.curl] : [.ytdlp, .ffmpeg, .ffprobe, .curl]
        return needed.filter { path(of: $0) == nil }
    }

    /// Starts each tool to find out its version.
    package func descriptions() async -> [ToolDescription] {
        var found: [ToolDescription] = []
        for tool in Tool.allCases {
            found.append(ToolDescription(name: tool.rawValue, version: await version(of: tool), path: path(of: tool)))
        }
        return found
    }

    /// Returns the version of a tool; `nil` if it isn't installed or doesn't start.
    package func version(of tool: Tool) async -> String? {
        guard let path = path(of: tool) else { return nil }
        return await Self.version(of: path, tool.versionArgument)
    }

    private static let versionSecondsMax = 30.0

    /// Returns the version that a program prints in its first line; `nil` if it doesn't start.
    package static func version(of path: String, _ argument: String) async -> String? {
        // A tool that hangs is ended.
        let output = await Deadline.run(seconds: versionSecondsMax) { () -> String? in
            let result = try? await Subprocess.run(
                .path(FilePath(path)), arguments: [argument], output: .string(limit: 64 << 10), error: .discarded)
            return result.flatMap { $0.terminationStatus.isSuccess ? $0.standardOutput : nil }
        }
        guard let line = (output ?? nil)?.split(separator: "\n").first else { return nil }
        // "ffmpeg version 5.1 Copyright", "curl 7.88.1 (…)", "deno 2.9.8", "2026.10.26"
        let words = line.split(separator: " ")
        return (words.first { $0.first?.isNumber == true } ?? words.last).map(String.init)
    }

    /// How many days old a version of yt-dlp is, which is a date: `2026.10.26`. `nil` for another form.
    package static func age(ofMediaTool version: String, now: Date = Date()) -> Int? {
        let parts = version.split(separator: ".").prefix(3).compactMap { Int($0) }
        guard parts.count == 3 else { return nil }
        let text = "\(parts[0])-\(parts[1] < 10 ? "0" : "")\(parts[1])-\(parts[2] < 10 ? "0" : "")\(parts[2])T00:00:00Z"
        return (try? Date(text, strategy: .iso8601)).map { Int(now.timeIntervalSince($0) / 86_400) }
    }

    /// After how many days yt-dlp is old: sites change weekly.
    private static let oldAfterDays = 30

    /// The age of a version of yt-dlp in days, if it's so old that it may fail on sites that have changed.
    package static func days(ofOldMediaTool version: String) -> Int? {
        age(ofMediaTool: version).flatMap { $0 > oldAfterDays ? $0 : nil }
    }

    /// The same, but `nil` if it was installed or updated in the last 30 days: then there was no newer one.
    package func days(withoutUpdateOf version: String, now: Date = Date()) -> Int? {
        // `venv` writes it when it makes the environment.
        let file = try? FileManager.default.attributesOfItem(atPath: "\(root)/current/pyvenv.cfg")
        if let made = file?[.modificationDate] as? Date,
            now.timeIntervalSince(made) < Double(Self.oldAfterDays) * 86_400
        {
            return nil
        }
        return Self.days(ofOldMediaTool: version)
    }
}
