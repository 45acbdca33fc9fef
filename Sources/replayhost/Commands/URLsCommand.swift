import ArchiveStore
import ArgumentParser
import CommandSupport
import WebArchive

/// `replayhost urls ID`
struct URLsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "urls",
        abstract: "List every captured URL of an archive or a collection.",
        discussion: """
            One line for each capture: time, status, type and URL, sorted by URL. For a collection, each line begins with \
            the archive's ID.

            Example:
              replayhost urls crawl --match "*.pdf" --status 200
            """)

    @Argument(help: "The ID of an archive or a collection, a unique prefix of it, or its title.")
    var id: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only URLs that contain this text. With *, which matches anything, the whole URL must match: \"*species/*\".",
            valueName: "text"))
    var match = ""

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only these types: html, pdf, image, audio, video, font, script, style, json, text, other.",
            valueName: "types"))
    var type: String?

    @Option(name: .long, help: ArgumentHelp("Only these statuses: 200, 404, 3xx.", valueName: "statuses"))
    var status: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Only captures from this time on: 2024, 2024-06 or up to 17 digits.", valueName: "timestamp")
    )
    var after: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Only captures before this time; 2024 leaves out the whole year.", valueName: "timestamp"))
    var before: String?

    @Option(name: .long, help: ArgumentHelp("The maximum number of lines (default: no limit).", valueName: "number"))
    var limit: Int?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1, not \(limit)") }
        let bytesMax = Limits.standard.queryValueBytesMax
        if match.utf8.count > bytesMax {
            throw ValidationError("--match has \(match.utf8.count) bytes; the limit is \(bytesMax)")
        }
        _ = try filter()
    }

    func run() throws {
        let filter = try filter()
        let store = try common.openExistingStore()
        let replayable = try store.resolver.replayable(matching: id)
        var output = BatchedOutput(ofRows: true)
        var left = limit ?? .max
        do {
            try store.resolver.forEachURL(filter, in: replayable) { item in
                output.append(Array((common.json ? Terminal.json(item) : Self.line(item)).utf8) + [0x0A])
                left -= 1
                return left > 0
            }
        } catch {
            // The lines so far are correct; the error tells the user that some are missing.
            output.flush()
            throw error
        }
        output.flush()
        guard output.isEmpty else { return }
        common.note(filter == URLFilter() ? "This archive has no captures." : "No captures match.")
    }

    private static func line(_ item: URLList.Item) -> String {
        let entry = item.entry
        let time = RFC3339.text(ofTimestamp: entry.timestamp) ?? entry.timestamp
        let status = entry.status.map(String.init) ?? "-"
        let method = entry.method.map { $0 == "GET" ? "" : "  (\(Terminal.safe($0)))" } ?? ""
        let archive = item.archiveID.map { "\($0)  " } ?? ""
        return
            "\(archive)\(time)  \(padded(status, to: 3))  \(padded(item.mediaClass.rawValue, to: 6))  \(Terminal.safe(entry.url))\(method)"
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.utf8.count))
    }

    private func filter() throws -> URLFilter {
        var filter = URLFilter()
        (filter.text, filter.match) = (match, .pattern)
        filter.types = Set(
            try Self.words(type).map { name in
                guard let type = MediaClass(rawValue: String(name)) else {
                    let known = MediaClass.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ValidationError("--type \"\(Terminal.safe(String(name)))\" is unknown; use \(known)")
                }
                return type
            })
        filter.statuses = try Self.words(status).map { text in
            guard let range = URLFilter.statuses(text) else {
                throw ValidationError(
                    "--status \"\(Terminal.safe(String(text)))\" isn't a status; use 404, or 4xx for a class")
            }
            return range
        }
        filter.after = try Self.time("--after", after)
        filter.before = try Self.time("--before", before)
        return filter
    }

    private static func words(_ list: String?) -> [Substring] { list?.split(separator: ",") ?? [] }

    private static func time(_ name: String, _ text: String?) throws -> CaptureTimestamp? {
        guard let text else { return nil }
        guard let time = URLFilter.time(text) else {
            throw ValidationError("\(name) \"\(text)\" isn't a time; give 4 to 17 digits of YYYYMMDDhhmmss")
        }
        return time
    }
}
