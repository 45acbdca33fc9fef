import ArgumentParser
import CaptureAPI
import CaptureServer
import CommandSupport

/// `replayhost-capture cancel ID…`
struct CancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel downloads.",
        discussion: """
            Example:
              replayhost-capture cancel 3f2a9c1b
            """)

    @Argument(help: "IDs of downloads, or unique prefixes of them.")
    var ids: [String]

    @OptionGroup var common: CommonOptions

    func run() throws {
        try common.change(ids) { client, id in
            let download = try client.call(Download.self, "POST", "/download/\(id)/cancel")
            common.tell(download, "\(id): cancelled")
        }
    }
}

/// `replayhost-capture retry ID…`
struct RetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Start failed or cancelled downloads again.",
        discussion: """
            Example:
              replayhost-capture retry 3f2a9c1b
            """)

    @Argument(help: "IDs of downloads, or unique prefixes of them.")
    var ids: [String]

    @OptionGroup var common: CommonOptions

    func run() throws {
        try common.change(ids) { client, id in
            let download = try client.call(Download.self, "POST", "/download/\(id)/retry")
            common.tell(download, "\(id): queued again")
        }
    }
}

/// `replayhost-capture check ID…`
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Replay saved archives once more, and say what was seen.",
        discussion: """
            Example:
              replayhost-capture check 3f2a9c1b
            """)

    @Argument(help: "IDs of downloads, or unique prefixes of them.")
    var ids: [String]

    @OptionGroup var common: CommonOptions

    func run() throws {
        try common.change(ids) { client, id in
            let download = try client.call(Download.self, "POST", "/download/\(id)/check", secondsMax: 600)
            common.tell(
                download, "\(id): \(download.replayCheck ?? "not replayed: PDFs and e-books are only verified")")
        }
    }
}

/// `replayhost-capture remove ID…`
struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove downloads from the list.",
        discussion: """
            What was saved stays, unless you add --archive or --file.

            Example:
              replayhost-capture remove 3f2a9c1b --archive --file
            """)

    @Argument(help: "IDs of downloads, or unique prefixes of them.")
    var ids: [String]

    @Flag(name: .long, help: "Also remove the archive from the library.")
    var archive = false

    @Flag(name: .long, help: "Also delete the media file or document.")
    var file = false

    @OptionGroup var common: CommonOptions

    func run() throws {
        let flags = [archive ? "archive=1" : nil, file ? "file=1" : nil].compactMap { $0 }
        let query = flags.isEmpty ? "" : "?" + flags.joined(separator: "&")
        try common.change(ids) { client, id in
            let removed = try client.call(DownloadAcknowledgement.self, "DELETE", "/history/\(id)\(query)")
            common.tell(removed, "\(id): removed from the list")
        }
    }
}

extension CommonOptions {
    /// Lets the running server change downloads: runs `body` for the full ID of each. Reports errors, and continues.
    fileprivate func change(_ prefixes: [String], _ body: (CaptureClient, String) throws -> Void) throws {
        let client = try CaptureClient.running(self)
        let statuses = statuses(of: prefixes) { prefix in
            try body(client, QueueReader.download(prefix, self).downloadID)
            return .done
        }
        try ExitStatus.throwUnlessDone(statuses)
    }
}
