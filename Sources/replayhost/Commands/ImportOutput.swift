import ArchiveStore
import CommandSupport
import WebArchive

/// Writes the results of an import to standard output, as text or as JSON.
struct ImportOutput {
    /// Whether the original was deleted.
    let wasMoved: Bool
    let common: CommonOptions

    func write(_ result: ImportResult) {
        switch result {
        case .archive(let outcome): write(outcome)
        case .multiWACZ(let package):
            for member in package.members { write(member) }
            if common.json {
                return Terminal.writeJSON(
                    ImportedPackage(
                        collection: package.collection.id.text, title: package.collection.title,
                        duplicate: package.isDuplicate,
                        remarks: package.remarks))
            }
            let count = Terminal.count(package.members.count, "archive", "archives")
            common.tell(
                "\(package.collection.id): collection \(Terminal.quotation(package.collection.title)) with \(count)")
            for remark in package.remarks { common.tell("  warning: \(remark)") }
        }
    }

    private struct Imported: Encodable {
        let archive: ArchiveDetails
        let duplicate: Bool
        let outcome: ImportOutcome.Kind
    }

    private struct ImportedPackage: Encodable {
        let collection: String
        let title: String
        let duplicate: Bool
        let remarks: [String]
    }

    private func write(_ outcome: ImportOutcome) {
        if common.json {
            return Terminal.writeJSON(
                Imported(archive: outcome.details, duplicate: outcome.isDuplicate, outcome: outcome.kind))
        }
        let archive = outcome.archive
        common.tell("\(archive.id): \(text(outcome))")
        let shown = outcome.isDuplicate ? [] : outcome.findings.filter { $0.severity > .notice }
        for finding in shown.prefix(10) {
            for line in FindingText.lines(finding, indentation: "  ") { common.tell(line) }
        }
        if shown.count > 10 { common.tell("  and \(shown.count - 10) more; see `replayhost info \(archive.id)`") }
    }

    private func text(_ outcome: ImportOutcome) -> String {
        let archive = outcome.archive
        let title = Terminal.quotation(archive.title)
        let facts = [
            archive.pageCount == 0 ? "no page list" : Terminal.count(archive.pageCount, "page", "pages"),
            Terminal.count(archive.captureCount, "capture", "captures"),
            Terminal.size(archive.size), "not verified",
        ].joined(separator: ", ")
        switch (outcome.kind, archive.storage.linkedFile) {
        case (.duplicate, nil) where wasMoved: return "already in your library: \(title). The original was deleted."
        case (.duplicate, _): return "already in your library: \(title). Nothing was added."
        case (.imported, nil): return "\(wasMoved ? "moved" : "imported") \(title) (\(facts))"
        case (.imported, _): return "linked \(title) (\(facts)). Its hash is calculated when the server next runs."
        case (.replaced, _): return "replaced \(title) (\(facts))"
        case (.adopted, _): return "copied \(title) into the library, where it was only linked (\(facts))"
        }
    }
}
