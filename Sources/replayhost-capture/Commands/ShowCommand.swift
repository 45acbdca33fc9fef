import ArchiveStore
import ArgumentParser
import CaptureAPI
import CaptureServer
import CommandSupport

/// `replayhost-capture show ID`
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a download.",
        discussion: """
            Example:
              replayhost-capture show 3f2a9c1b
            """)

    @Argument(help: "The download's ID, or a unique prefix of it.")
    var id: String

    @OptionGroup var common: CommonOptions

    func run() throws {
        let download = try QueueReader.download(id, common).download
        if common.json { return Terminal.writeJSON(download) }
        let facts: [(String, String?)] = [
            ("id", download.downloadID), ("url", download.url), ("title", download.title),
            ("user", download.username), ("genre", download.genre.rawValue), ("state", DownloadText.state(download)),
            ("attempts", "\(download.attempt)"), ("submitted", download.submittedAt),
            ("completed", download.completedAt), ("file", download.filePath),
            ("size", download.fileSize.map { Terminal.size($0) }), ("archive", download.archive),
            ("quality", download.qualityFallback ? "default, because the chosen one isn't available" : nil),
            ("missing", download.incomplete), ("replay", download.replayCheck),
            ("genre problem", download.genreDetectionError),
            ("log", "`replayhost-capture log \(download.downloadID.prefix(8))`"),
        ]
        for case (let label, let value?) in facts {
            let padding = String(repeating: " ", count: max(1, 14 - label.count))
            Terminal.writeRow("\(label):\(padding)\(Terminal.value(value))")
        }
    }
}

/// `replayhost-capture log ID`
struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show the log of a download.",
        discussion: """
            Example:
              replayhost-capture log 3f2a9c1b
            """)

    @Argument(help: "The download's ID, or a unique prefix of it.")
    var id: String

    @OptionGroup var common: CommonOptions

    func run() throws {
        let row = try QueueReader.download(id, common)
        let layout = CaptureLayout(store: StoreLayout(root: common.location.path), downloads: "")
        let page = try DownloadLogs(layout: layout).page(row, offset: 0, limit: .max)
        if common.json { return Terminal.writeJSON(page) }
        for line in page.lines { Terminal.write(line) }
    }
}
