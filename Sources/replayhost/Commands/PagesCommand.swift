import ArchiveStore
import ArgumentParser
import CommandSupport
import WebArchive

/// `replayhost pages ID`
struct PagesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pages",
        abstract: "List the pages of an archive.",
        discussion: """
            Example:
              replayhost pages crawl --match "coral reef"
            """)

    @Argument(help: "The archive's ID, a unique prefix of it, or its title.")
    var id: String

    @Option(name: .long, help: "Only pages whose title or URL contains all of these words.")
    var match = ""

    @OptionGroup var common: CommonOptions

    func validate() throws {
        let bytesMax = Limits.standard.queryValueBytesMax
        if match.utf8.count > bytesMax {
            throw ValidationError("--match has \(match.utf8.count) bytes; the limit is \(bytesMax)")
        }
    }

    func run() throws {
        let store = try common.openExistingStore()
        let archive = try store.resolver.archive(matching: id)
        var offset = 0
        while true {
            let request = PageListRequest(query: match, offset: offset, limit: Self.batchSize)
            let pages = try store.pages(of: archive, request).pages
            for page in pages {
                if common.json { Terminal.writeJSON(page) } else { Terminal.writeRow(Self.line(page)) }
            }
            offset += pages.count
            if pages.count < Self.batchSize { break }
        }
        guard offset == 0 else { return }
        common.note(
            match.isEmpty
                ? "This archive has no page list, and no pages were detected yet. List its URLs with `replayhost urls`."
                : "No pages match \"\(match)\"."
        )
    }

    private static func line(_ page: ArchivePage) -> String {
        let time = page.timestamp.flatMap(RFC3339.text(ofTimestamp:)) ?? "unknown time        "
        let title = page.title.map { "  " + Terminal.safe($0) } ?? ""
        return "\(time)  \(Terminal.safe(page.url))\(title)"
    }

    private static let batchSize = 1000
}
