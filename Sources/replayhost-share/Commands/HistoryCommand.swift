import ArgumentParser
import CaptureAPI
import Foundation
import ShareKit
import TerminalText

/// `replayhost-share history`
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List what this computer has shared, the newest first.",
        discussion: """
            Example:
              replayhost-share history --search film --page 2
              replayhost-share history --export csv > shared.csv
              replayhost-share history --domain example.org --delete
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case csv, json
    }

    @Option(name: .long, help: ArgumentHelp("Only those with these words in the URL.", valueName: "words"))
    var search: String?

    @Option(name: .long, help: ArgumentHelp("Only those of this site, and below it.", valueName: "host"))
    var domain: String?

    @Option(name: .long, help: ArgumentHelp("Only those from this day on: 2026-01-31.", valueName: "day"))
    var since: String?

    @Option(name: .long, help: ArgumentHelp("Only those up to this day.", valueName: "day"))
    var until: String?

    @Option(name: .long, help: ArgumentHelp("Which 20 to list.", valueName: "number"))
    var page = 1

    @Option(name: .long, help: ArgumentHelp("Write all of them in this format.", valueName: "format"))
    var export: Format?

    @Flag(name: .long, help: "Delete them here, and from the queue. What the server has saved stays.")
    var delete = false

    @Flag(name: .long, help: "List the downloads of the server instead.")
    var server = false

    @OptionGroup var common: DeviceOptions

    func validate() throws {
        if page < 1 { throw ValidationError("--page begins at 1") }
        for day in [since, until].compactMap({ $0 }) where Self.time(of: day) == nil {
            throw ValidationError("\"\(day)\" isn't a day such as 2026-01-31")
        }
        if let first = since.flatMap(Self.time), let last = until.flatMap(Self.time), first > last {
            throw ValidationError("The first day must not be after the last one.")
        }
        if delete, [search, domain, since, until].allSatisfy({ $0 == nil }) {
            throw ValidationError("--delete needs --search, --domain, --since or --until")
        }
        if server, delete || export != nil || [domain, since, until].contains(where: { $0 != nil }) {
            throw ValidationError("--server goes with --search and --page only")
        }
    }

    func run() async throws {
        let device = try common.device()
        if server { return try await listServer(try device.client()) }
        let history = try await matching(device)
        if delete {
            let ids = Set(history.entries.map(\.id))
            let count = try await device.queue.delete { ids.contains($0.id) }
            return common.note(count == 1 ? "1 entry was deleted." : "\(count) entries were deleted.")
        }
        if let export { return Output.write(export == .csv ? history.csv : history.json) }
        for entry in history.page(page - 1) {
            let time = Self.format("yyyy-MM-dd HH:mm").string(from: entry.sharedAt)
            let message = entry.message.map { " (\($0))" } ?? ""
            common.tell(
                entry,
                row: "\(entry.id.uuidString.lowercased().prefix(8))  \(time)  "
                    + "\(TerminalText.safe(entry.status.rawValue + message))  \(TerminalText.safe(entry.url))"
            )
        }
        let more = history.entries.count - page * ShareHistory.pageSize
        if more > 0 { common.note("\(more) more: add --page \(page + 1)") }
    }

    private func matching(_ device: Device) async throws -> ShareHistory {
        var history = try await device.queue.entries()
        if let search { history = history.matching(search) }
        if let domain { history = history.at(domain: domain) }
        if let start = since.flatMap(Self.time) { history = history.since(start) }
        if let start = until.flatMap(Self.time), let end = Calendar.current.date(byAdding: .day, value: 1, to: start) {
            history = history.before(end)
        }
        return history
    }

    private func listServer(_ client: ShareClient) async throws {
        let size = ShareHistory.pageSize
        for download in try await client.history(limit: size, offset: (page - 1) * size, query: search) {
            common.tell(
                download,
                row:
                    "\(TerminalText.safe(download.downloadID))  \(TerminalText.safe(download.stateText(in: .english)))  "
                    + TerminalText.safe(download.title ?? download.url))
        }
    }

    /// Returns when a day begins here.
    private static func time(of day: String) -> Date? { format("yyyy-MM-dd").date(from: day) }

    private static func format(_ pattern: String) -> DateFormatter {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.dateFormat = pattern
        return format
    }
}
