import ArchiveStore
import ArgumentParser
import Foundation
import WebArchive

/// `replayhost list`
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show the archives in the store, newest first.",
        discussion: """
            In a narrow terminal, titles are cut and some columns left out.

            Examples:
              replayhost list --sort size
              replayhost list --tag harbour --json
            """)

    @Option(name: .long, help: "What comes first: the newest, or by title, size, last capture or number of pages.")
    var sort = Order.added

    @Option(
        name: .long, help: ArgumentHelp("Only archives with this tag; may be given several times.", valueName: "tag"))
    var tag: [String] = []

    /// The first is the newest, the largest or the latest; titles go by the alphabet.
    enum Order: String, ExpressibleByArgument, CaseIterable {
        case added, title, size, captured, pages

        /// The column that shows it.
        fileprivate var column: String { self == .added ? "IMPORTED" : rawValue.uppercased() }

        fileprivate func isBefore(_ one: Archive, _ other: Archive) -> Bool {
            switch self {
            case .added: one.importedAt > other.importedAt
            case .title: one.title.localizedStandardCompare(other.title) == .orderedAscending
            case .size: one.size > other.size
            case .captured: (one.lastCapture ?? "") > (other.lastCapture ?? "")
            case .pages: one.pageCount > other.pageCount
            }
        }
    }

    @OptionGroup var common: CommonOptions

    func run() throws {
        common.sayWhichStore()
        let all = try common.openStoreIfAny()?.archives() ?? []
        let archives = all.filter { listed in tag.allSatisfy { listed.archive.tags.contains($0) } }
            .sorted { sort.isBefore($0.archive, $1.archive) }
        if common.json {
            for archive in archives { Terminal.write(Terminal.json(archive)) }
            return
        }
        if archives.isEmpty { return common.remark(reasonForNone(of: all.map(\.archive))) }
        // What they are sorted by is left out last.
        let leftOut = ["IMPORTED", "CAPTURED", "CAPTURES", "PAGES", "SIZE"]
        let sorted = leftOut.filter { $0 == sort.column }
        var table = Table(
            ["ID", "TITLE", "PAGES", "CAPTURES", "SIZE", "CAPTURED", "IMPORTED", "FINDINGS"],
            leftOut: leftOut.filter { $0 != sort.column } + sorted, cut: ["TITLE"])
        for listed in archives {
            let archive = listed.archive
            table.add([
                archive.id.text, String(Terminal.safe(archive.title).prefix(40)), "\(archive.pageCount)",
                "\(archive.captureCount)", Terminal.size(archive.size), Self.span(archive),
                String(RFC3339.text(of: archive.importedAt).prefix(10)), Self.state(listed),
            ])
        }
        for line in table.lines() { Terminal.write(line) }
    }

    private func reasonForNone(of all: [Archive]) -> String {
        guard common.hasStore else { return "there is no store here yet; replayhost import FILE makes one" }
        guard !all.isEmpty else { return "no archives yet; replayhost import FILE brings one in" }
        let known = Set(all.flatMap(\.tags)).sorted { $0.localizedStandardCompare($1) == .orderedAscending }
        guard !known.isEmpty else { return "no archive has a tag; replayhost edit ID --tag TAG gives it one" }
        let more = known.count > 20 ? " and \(known.count - 20) more" : ""
        return "no archive has \(tag.count == 1 ? "this tag" : "all of these tags"). Tags in use: "
            + known.prefix(20).joined(separator: ", ") + more
    }

    /// The days of the first and the last capture.
    private static func span(_ archive: Archive) -> String {
        let days = [archive.firstCapture, archive.lastCapture].compactMap { $0 }
            .compactMap { RFC3339.text(ofTimestamp: $0) }.map { String($0.prefix(10)) }
        return Set(days).sorted().joined(separator: " to ")
    }

    /// What is wrong, the file's absence first.
    private static func state(_ listed: ListedArchive) -> String {
        switch listed.availability {
        case .available: findings(listed.archive.findingCounts)
        case .unavailable: "unavailable"
        case .changed: "file changed"
        case .missing: "file missing"
        }
    }

    private static func findings(_ counts: FindingCounts) -> String {
        var parts: [String] = []
        if counts.error > 0 { parts.append(Terminal.count(counts.error, "error", "errors")) }
        if counts.warning > 0 { parts.append(Terminal.count(counts.warning, "warning", "warnings")) }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}
