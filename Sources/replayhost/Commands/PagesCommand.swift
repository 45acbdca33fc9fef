import ArchiveStore
import ArgumentParser
import WebArchive

/// `replayhost pages ID`
struct PagesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pages",
        abstract: "List the pages of one archive, in its own order.",
        discussion: """
            Example:
              replayhost pages crawl --match "coral reef"
            """)

    @Argument(help: "The archive's id, or the unique beginning of one.")
    var id: String

    @Option(name: .long, help: "Only pages whose title or URL holds all of these words.")
    var match = ""

    @OptionGroup var common: CommonOptions

    func run() throws {
        let store = try common.openExistingStore()
        let archive = try store.resolver.archive(matching: id)
        var offset = 0
        while true {
            let pages = try store.pages(of: archive, words: match, offset: offset, limit: Self.batch).pages
            for page in pages { Terminal.write(common.json ? Terminal.json(page) : Self.line(page)) }
            offset += pages.count
            if pages.count < Self.batch { break }
        }
        guard offset == 0 else { return }
        common.remark(
            match.isEmpty
                ? "the archive lists no pages; it can still be visited by address" : "no page matches \"\(match)\"")
    }

    private static func line(_ page: ArchivePage) -> String {
        let time = page.timestamp.flatMap(RFC3339.text(ofTimestamp:)) ?? "unknown time        "
        let title = page.title.map { "  " + $0 } ?? ""
        return Terminal.safe("\(time)  \(page.url)\(title)")
    }

    private static let batch = 1000
}
