import ArchiveStore
import WebArchive

/// What is said of an import on standard output, in words or as JSON.
struct ImportWords {
    /// Whether the original is gone now.
    let wasMoved: Bool
    let common: CommonOptions

    func say(_ result: ImportResult) {
        switch result {
        case .archive(let outcome): say(outcome)
        case .package(let package):
            for member in package.members { say(member) }
            if common.json {
                return Terminal.write(
                    Terminal.json(
                        ImportedPackage(
                            collection: package.collection.id.text, title: package.collection.title,
                            duplicate: package.isDuplicate,
                            remarks: package.remarks)))
            }
            let count = Terminal.count(package.members.count, "archive", "archives")
            common.tell(
                "\(package.collection.id): a collection of \(count) (\(Terminal.safe(package.collection.title)))")
            for remark in package.remarks { common.tell("  warning: \(Terminal.safe(remark))") }
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

    private func say(_ outcome: ImportOutcome) {
        if common.json {
            return Terminal.write(
                Terminal.json(
                    Imported(archive: outcome.details, duplicate: outcome.isDuplicate, outcome: outcome.kind)))
        }
        let archive = outcome.archive
        common.tell("\(archive.id): \(words(outcome))")
        let shown = outcome.isDuplicate ? [] : outcome.findings.filter { $0.severity > .notice }
        for finding in shown.prefix(10) { common.tell("  " + FindingText.line(finding)) }
        if shown.count > 10 { common.tell("  and \(shown.count - 10) more: replayhost info \(archive.id)") }
    }

    private func words(_ outcome: ImportOutcome) -> String {
        let archive = outcome.archive
        let title = Terminal.safe(archive.title)
        let facts = [
            Terminal.count(archive.pageCount, "page", "pages"),
            Terminal.count(archive.captureCount, "capture", "captures"),
            Terminal.size(archive.size), archive.sha256 == nil ? "not hashed yet" : "not yet verified",
        ].joined(separator: ", ")
        switch (outcome.kind, archive.storage.linkedFile) {
        case (.duplicate, nil) where wasMoved: return "already in the store (\(title)); the original was deleted"
        case (.duplicate, _): return "already in the store (\(title)); nothing was changed"
        case (.imported, nil): return "\(wasMoved ? "moved in" : "imported") \(title) (\(facts))"
        case (.imported, _): return "refers to \(title) (\(facts))"
        case (.replaced, _): return "replaced \(title) (\(facts))"
        case (.adopted, _): return "taken into the store, which only referred to it before: \(title) (\(facts))"
        }
    }
}
