import ArchiveStore
import ArgumentParser
import CommandSupport

/// What `remove --json` and `collection remove --json` print. docs/json.md, "On the command line".
struct Removed: Encodable {
    let id: String
    let removed = true
}

/// `replayhost remove ID…`
struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove archives from the library.",
        discussion: """
            Asks for confirmation, unless you add --yes. Originals and linked files aren't deleted.

            Example:
              replayhost remove crawl --yes
            """)

    @Argument(help: "Archive IDs, unique prefixes of them, or titles.")
    var ids: [String]

    @Flag(name: .long, help: "Don't ask for confirmation.")
    var yes = false

    @OptionGroup var common: CommonOptions

    func run() throws {
        let store = try common.openStoreToChange()
        let statuses = common.statuses(of: ids) { id in
            try remove(try store.resolver.archive(matching: id), from: store)
        }
        try store.purgeRemovedTexts()
        try ExitStatus.throwUnlessDone(statuses)
    }

    private func remove(_ archive: Archive, from store: ArchiveStore) throws -> ExitStatus {
        let title = Terminal.quotation(archive.title)
        if !yes {
            let question = "Remove \(archive.id) (\(title), \(Terminal.size(archive.size)))? [y/N]"
            guard try Terminal.confirm(question) else { return .failed }
        }
        try store.remove(archive.id)
        common.tell(Removed(id: archive.id.text), "\(archive.id): removed \(title)")
        return .done
    }
}
