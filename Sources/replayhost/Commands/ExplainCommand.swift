import ArchiveStore
import ArgumentParser
import CommandSupport
import WebArchive

/// `replayhost explain URL`
struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Find out why a URL can't be shown, and which captures can be shown instead.",
        discussion: """
            Searches only your library. Nothing is loaded from the internet.

            Example:
              replayhost explain https://example.org/winter.html --in crawl
            """)

    @Argument(help: "The URL; http and https are equivalent.")
    var url: String

    @Option(
        name: .customLong("in"),
        help: ArgumentHelp(
            "The archive or collection where it should be: its ID, a unique prefix of it, or its title (default: all archives).",
            valueName: "id"))
    var id: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The time that you want to see (4 to 17 digits, UTC).", valueName: "timestamp"))
    var time: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        let urlBytesMax = Limits.standard.urlBytesMax
        if url.utf8.count > urlBytesMax {
            throw ValidationError("<url> has \(url.utf8.count) bytes; the limit is \(urlBytesMax)")
        }
        if url.isEmpty { throw ValidationError("<url> is empty; give the URL of a page") }
        if let time, CaptureTimestamp(endOf: time) == nil {
            throw ValidationError("--time \"\(time)\" isn't a time; give 4 to 17 digits of YYYYMMDDhhmmss")
        }
    }

    /// Says how to replay an incomplete capture with the archive that has the rest.
    private static func together(_ explanation: Explanation) -> String? {
        for case .incomplete(let found) in explanation.reasons {
            guard let holder = found.archives.first, let replayable = explanation.replayable else { continue }
            let members = replayable.archives.map(\.id.text) + [holder.archive]
            return CollectionCommand.togetherHint(members)
        }
        return nil
    }

    func run() throws {
        let store = try common.openExistingStore()
        let replayable = try id.map { try store.resolver.replayable(matching: $0) }
        let request = ArchiveStore.CaptureRequest(
            url: CapturedURL.completed(url), time: time.flatMap { CaptureTimestamp(endOf: $0) })
        let explanation = try store.resolver.explain(request, in: replayable)
        if common.json { return Terminal.writeJSON(explanation) }
        for line in ExplanationText(explanation).lines { Terminal.writeRow(line) }
        if let together = Self.together(explanation) { return common.note(together) }
        guard let capture = explanation.offers.first?.capture ?? explanation.closest.first,
            let archive = capture.archiveID
        else { return }
        common.note(OpenCommand.hint(archive: archive.description, url: capture.url, timestamp: capture.timestamp))
    }
}
