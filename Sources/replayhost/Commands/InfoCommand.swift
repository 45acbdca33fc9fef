import ArchiveStore
import ArgumentParser
import CommandSupport
import WebArchive

/// `replayhost info ID`
struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show an archive's details and issues.",
        discussion: """
            Example:
              replayhost info crawl
            """)

    @Argument(help: "The archive's ID, a unique prefix of it, or its title.")
    var id: String

    @OptionGroup var common: CommonOptions

    func run() throws {
        let store = try common.openExistingStore()
        let details = try store.details(of: try store.resolver.archive(matching: id))
        if common.json { return Terminal.writeJSON(details) }
        for (label, value) in Self.facts(details) {
            let name = "\(label):" + String(repeating: " ", count: Self.nameColumns - label.count - 1)
            let value = Terminal.truncated(Terminal.value(value), to: Self.valueColumnsMax)
            for line in Terminal.wrapped(value, after: name, indentation: Self.nameColumns) { Terminal.writeRow(line) }
        }
        for line in details.findings.flatMap({ FindingText.lines($0) }) { Terminal.write(line) }
    }

    private static let nameColumns = 15

    /// An archive's description, and the URL of its main page, can have 16 KiB. JSON has all of it.
    private static let valueColumnsMax = 2000

    private static func facts(_ details: ArchiveDetails) -> [(String, String)] {
        let archive = details.archive
        let facts: [(String, String?)] = [
            ("id", archive.id.text), ("title", archive.title), ("description", archive.description),
            ("tags", archive.tags.isEmpty ? nil : archive.tags.joined(separator: ", ")),
            ("notes", archive.notes.isEmpty ? nil : archive.notes),
            ("file", "\(archive.originalName), \(archive.size) bytes"),
            ("sha256", archive.sha256 ?? "not calculated yet"),
            ("location", archive.storage.linkedFile?.path),
            ("verification", verification(details)),
            ("added", "\(RFC3339.text(of: archive.importedAt)) from \(archive.source)"),
            ("saved from", archive.saved.map { "\($0.url), for \($0.user)" }),
            ("missing", archive.saved?.incomplete), ("replay", archive.saved?.replayCheck),
            ("created", archive.createdAt.map(RFC3339.text)), ("software", archive.software),
            ("WACZ version", archive.waczVersion),
            ("pages", "\(archive.pageCount)" + (archive.hasDetectedPages ? " (detected)" : "")),
            ("captures", "\(archive.captureCount)"),
            ("first capture", archive.firstCapture.flatMap(RFC3339.text(ofTimestamp:))),
            ("last capture", archive.lastCapture.flatMap(RFC3339.text(ofTimestamp:))),
            ("main page", archive.mainPageURL), ("lookups", lookups(archive)),
            ("search", search(details.text, archive)),
        ]
        return facts.compactMap { label, value in value.map { (label, $0) } }
    }

    /// Describes the last verification.
    private static func verification(_ details: ArchiveDetails) -> String {
        let words = details.archive.verificationCode(details.availability)?.words(signer: nil) ?? "Unavailable"
        guard let report = details.verification else {
            return "\(words); run `replayhost verify \(details.archive.id)`"
        }
        let last = "\(VerdictText.verdict(report)) (\(RFC3339.text(of: report.summary.verifiedAt)))"
        return details.availability == .available ? last : "\(words). Before: \(last)"
    }

    /// Describes how much of the text can be searched.
    private static func search(_ text: IndexedText?, _ archive: Archive) -> String {
        guard let text else { return "not indexed yet" }
        let pages = Terminal.count(text.pages, "page", "pages") + (text.source == .detected ? " (detected)" : "")
        let state = text.isComplete ? "" : ", indexing hasn't finished"
        let reasons = text.withoutText.sorted { $0.key < $1.key }.map { "\($0.value) \(reason($0.key))" }
        return "\(pages), \(text.withText) with text" + (reasons.isEmpty ? "" : ", \(reasons.joined(separator: ", "))")
            + state
    }

    /// Returns the reason why pages have no text.
    private static func reason(_ name: String) -> String {
        switch MissingText(rawValue: name) {
        case .notCaptured: "not captured"
        case .unreadable: "unreadable"
        case .otherType: "of a type without text"
        case .empty: "empty"
        case .tooLarge: "too large"
        case .off: "not indexed (--no-text)"
        case .noPDFReader: "PDF, not indexed because pdftotext isn't installed"
        case .noPDFSandbox: "PDF, not indexed because no sandbox for pdftotext works"
        case .encryptedPDF: "encrypted PDF"
        case .unreadablePDF: "PDF that can't be read"
        case .archiveLimit: "not indexed because the texts are too large for the size of this file"
        case .rest: "indexed only in part"
        case nil: name
        }
    }

    /// Describes the index that lookups use.
    private static func lookups(_ archive: Archive) -> String {
        guard let lookups = archive.lookups else {
            return "slow, because the index isn't prepared; run `replayhost doctor`"
        }
        return lookups.reason.map { "use a sorted copy of the index (\($0))" } ?? "use the archive's own index"
    }
}
