import ArchiveStore
import ArgumentParser
import CommandSupport

/// `replayhost edit ID`
struct EditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the title, tags or notes of an archive or a collection.",
        discussion: """
            Changes only what you specify. The WACZ file itself never changes.

            Content that an archive's signature doesn't cover is hidden, because
            anyone could have added it. --show-uncovered shows it with a warning.
            --hide-uncovered hides it again.

            Example:
              replayhost edit crawl --title "The harbour, 2024" --tag harbour
            """)

    @Argument(help: "The ID, a unique prefix of it, or the title.")
    var id: String

    @Option(name: .long, help: "The new title.")
    var title: String?

    @Option(name: .long, help: ArgumentHelp("A tag to add (repeatable).", valueName: "tag"))
    var tag: [String] = []

    @Option(name: .long, help: ArgumentHelp("A tag to remove (repeatable).", valueName: "tag"))
    var untag: [String] = []

    @Option(name: .long, help: ArgumentHelp("The new notes, or - for standard input.", valueName: "text"))
    var notes: String?

    @Flag(exclusivity: .exclusive)
    var uncovered: Uncovered?

    @OptionGroup var common: CommonOptions

    /// Whether what the signature doesn't cover is shown.
    enum Uncovered: String, EnumerableFlag {
        case show = "show-uncovered"
        case hide = "hide-uncovered"

        static func name(for value: Self) -> NameSpecification { .customLong(value.rawValue) }

        static func help(for value: Self) -> ArgumentHelp? {
            switch value {
            case .show: "Show what the archive's signature doesn't cover."
            case .hide: "Don't show what the archive's signature doesn't cover."
            }
        }
    }

    func validate() throws {
        if title == nil, tag.isEmpty, untag.isEmpty, notes == nil, uncovered == nil {
            throw ValidationError(
                "nothing to change; give --title, --tag, --untag, --notes, --show-uncovered or --hide-uncovered")
        }
    }

    func run() throws {
        let store = try common.openStoreToChange()
        switch try store.resolver.replayable(matching: id) {
        case .archive(let archive):
            let edited = try store.edit(archive.id, try changes(to: archive.tags))
            common.tell(try store.details(of: edited), Self.line(edited.id, edited.title, edited.tags))
        case .collection(let collection, _):
            if let uncovered {
                throw StoreError(
                    .invalidMetadata, "--\(uncovered.rawValue) is for archives, not for collections", place: id,
                    hint: "give the ID of an archive of the collection")
            }
            let edited = try store.collections.edit(collection.id, try changes(to: collection.tags))
            common.tell(try store.collections.details(of: edited), Self.line(edited.id, edited.title, edited.tags))
        }
    }

    private func changes(to tags: [String]) throws -> ArchiveMetadata {
        let missing = untag.filter { !tags.contains($0) }
        if let first = missing.first {
            throw StoreError(.notFound, "no tag \"\(first)\"", place: id)
        }
        let changed = tag.isEmpty && untag.isEmpty ? nil : tags.filter { !untag.contains($0) } + tag
        return ArchiveMetadata(
            title: title, tags: changed, notes: try notesText(), showsUncovered: uncovered.map { $0 == .show })
    }

    private func notesText() throws -> String? {
        guard notes == "-" else { return notes }
        var lines: [String] = []
        while let line = readLine(strippingNewline: false) { lines.append(line) }
        return lines.joined()
    }

    private static func line(_ id: ArchiveID, _ title: String, _ tags: [String]) -> String {
        let list = tags.isEmpty ? "" : " [\(tags.joined(separator: ", "))]"
        return "\(id): \(title)\(list)"
    }
}
