import ArchiveStore
import ArgumentParser
import CommandSupport
import Foundation
import WebArchive

/// `replayhost list`
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the archives in the library.",
        discussion: """
            Example:
              replayhost list --sort size
            """)

    @Option(
        name: .long, help: "Sort by date added, title, size, last capture, number of pages, or trust (the worst first)."
    )
    var sort = Order.added

    @Option(
        name: .long, help: ArgumentHelp("Only archives with this tag (repeatable).", valueName: "tag"))
    var tag: [String] = []

    /// Newest, largest or latest first; titles in alphabetical order. Trust: the worst results of verifications first.
    enum Order: String, ExpressibleByArgument, CaseIterable {
        case added, title, size, captured, pages, trust

        /// The column with the sorted values, which is always shown.
        fileprivate var column: String { rawValue.uppercased() }

        fileprivate func isBefore(_ listed: ListedArchive, _ otherListed: ListedArchive) -> Bool {
            let (one, other) = (listed.archive, otherListed.archive)
            return switch self {
            case .added: one.importedAt > other.importedAt
            case .title: one.title.localizedStandardCompare(other.title) == .orderedAscending
            case .size: one.size > other.size
            case .captured: (one.lastCapture ?? "") > (other.lastCapture ?? "")
            case .pages: one.pageCount > other.pageCount
            case .trust: ListCommand.trust(listed) > ListCommand.trust(otherListed)
            }
        }
    }

    @OptionGroup var common: CommonOptions

    func run() throws {
        common.noteStore()
        let store = try common.openStoreIfAny()
        let archives = (try store?.archives(tags: tag) ?? []).sorted(by: sort.isBefore)
        if common.json { return Terminal.writeJSON(each: archives) }
        if archives.isEmpty { return common.note(try reasonForNone(in: store)) }
        try table(of: archives, store?.resolver.shortIDs()).write()
    }

    private func table(of archives: [ListedArchive], _ shortIDs: ShortIDs?) -> Table {
        var table = Table(
            ["TITLE", "ID", "PAGES", "CAPTURES", "SIZE", "CAPTURED", "ADDED", "TRUST", "ISSUES"],
            hideable: ["CAPTURES", "CAPTURED", "ADDED", "PAGES", "SIZE"].filter { $0 != sort.column },
            truncatable: ["TITLE"])
        for listed in archives {
            let archive = listed.archive
            let row = [
                Terminal.title(archive.title), archive.id.text, "\(archive.pageCount)", "\(archive.captureCount)",
                Terminal.size(archive.size), Self.span(archive, precision: 10),
                String(RFC3339.text(of: archive.importedAt).prefix(10)),
                Self.verification(listed), Self.states(listed).joined(separator: ", "),
            ]
            let short: [String: String?] = [
                "ID": shortIDs?[archive.id], "CAPTURED": Self.span(archive, precision: 4),
                "TRUST": Self.code(of: listed)?.shortWords, "ISSUES": Self.states(listed).first,
            ]
            table.add(row, short: short.compactMapValues { $0 })
        }
        return table
    }

    /// The result of the last verification; `nil` for a file that isn't there.
    private static func code(of listed: ListedArchive) -> VerificationCode? {
        listed.archive.verificationCode(listed.availability)
    }

    private static func verification(_ listed: ListedArchive) -> String {
        code(of: listed).map { Terminal.title($0.words(signer: listed.archive.verified?.signer)) } ?? "Unavailable"
    }

    /// The place in the order of trust. What isn't there is like what wasn't verified.
    fileprivate static func trust(_ listed: ListedArchive) -> Int {
        VerificationCode.byTrust.firstIndex(of: code(of: listed) ?? .notVerified) ?? 0
    }

    private func reasonForNone(in store: ArchiveStore?) throws -> String {
        guard let store, try !store.archives().isEmpty else {
            return "No archives yet. Add a WACZ or WARC file with `replayhost import FILE`."
        }
        let known = try store.tags().sorted { $0.localizedStandardCompare($1) == .orderedAscending }
        guard !known.isEmpty else { return "No archive has a tag. Add one with `replayhost edit ID --tag TAG`." }
        let more = known.count > 20 ? " and \(known.count - 20) more" : ""
        return "No archive has \(tag.count == 1 ? "this tag" : "all of these tags"). Tags in use: "
            + known.prefix(20).joined(separator: ", ") + more
    }

    /// The dates of the first and the last capture.
    ///
    /// - Parameter precision: 10 for days, 4 for years.
    private static func span(_ archive: Archive, precision: Int) -> String {
        let dates = [archive.firstCapture, archive.lastCapture].compactMap { $0 }
            .compactMap { RFC3339.text(ofTimestamp: $0) }.map { String($0.prefix(precision)) }
        return Set(dates).sorted().joined(separator: precision == 4 ? "–" : " to ")
    }

    /// Returns whether the file is missing or changed, or the numbers of its issues, the worst first.
    private static func states(_ listed: ListedArchive) -> [String] {
        switch listed.availability {
        case .available: findings(listed.archive.findingCounts)
        case .unavailable: ["unavailable"]
        case .changed: ["file changed"]
        case .missing: ["file missing"]
        }
    }

    private static func findings(_ counts: FindingCounts) -> [String] {
        var parts: [String] = []
        if counts.error > 0 { parts.append(Terminal.count(counts.error, "error", "errors")) }
        if counts.warning > 0 { parts.append(Terminal.count(counts.warning, "warning", "warnings")) }
        return parts.isEmpty ? ["none"] : parts
    }
}
