import ArchiveStore
import ArgumentParser
import CaptureAPI
import CaptureServer
import CommandSupport

/// `replayhost-capture list`
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List downloads, newest first.",
        discussion: """
            Example:
              replayhost-capture list --status failed
            """)

    @Option(name: .long, help: "Only this status: pending, downloading, completed or failed.")
    var status: String?

    @Option(name: .long, help: ArgumentHelp("Only downloads of this user.", valueName: "name"))
    var user: String?

    @Option(name: .long, help: ArgumentHelp("How many to show, at most 100.", valueName: "number"))
    var limit = 50

    @Option(name: .long, help: ArgumentHelp("How many to skip.", valueName: "number"))
    var offset = 0

    @OptionGroup var common: CommonOptions

    func run() throws {
        let parameters = ["status": status, "username": user, "limit": "\(limit)", "offset": "\(offset)"]
            .compactMapValues { $0 }
        let query: HistoryQuery
        do {
            query = try HistoryQuery(parameters)
        } catch {
            throw CommandError(
                usage: "\(error.loc.last ?? ""): \(error.msg)", hint: "see `replayhost-capture list --help`")
        }
        let reader = try QueueReader(layout: StoreLayout(root: common.location.path))
        let (total, rows) = try reader?.downloads(query) ?? (0, [])
        if common.json { return Terminal.writeJSON(each: rows.map(\.download)) }
        guard !rows.isEmpty else { return common.tell("No downloads.") }
        var table = Table(
            ["ID", "USER", "GENRE", "TITLE", "STATE"], hideable: ["GENRE", "USER"], truncatable: ["TITLE", "STATE"])
        for row in rows {
            let download = row.download
            table.add([
                String(download.downloadID.prefix(8)), download.username, download.genre.rawValue,
                Self.shortened(download.title ?? download.url), Self.shortened(DownloadText.state(download)),
            ])
        }
        if !common.quiet { table.write() }
        let shown = offset + rows.count
        if total > shown { common.note("\(total - shown) more; see them with --offset \(shown)") }
    }

    /// A URL can have 2,048 characters, and a row is as wide as the widest one. `--json` has all of it.
    private static func shortened(_ text: String) -> String {
        Terminal.truncated(Terminal.safe(text), to: columnsMax)
    }

    private static let columnsMax = 200
}
