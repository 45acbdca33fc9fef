import ArchiveStore
import ArgumentParser
import CommandSupport

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
        var statuses: [ExitStatus] = []
        for id in ids {
            do {
                statuses.append(try remove(try store.resolver.archive(matching: id), from: store))
            } catch {
                let failure = CommandError(error)
                failure.report(asJSON: common.json)
                statuses.append(failure.status)
            }
        }
        try store.purgeRemovedTexts()
        try ExitStatus.throwUnlessDone(statuses)
    }

    private struct Removed: Encodable {
        let id: String
        let removed: Bool
    }

    private func remove(_ archive: Archive, from store: ArchiveStore) throws -> ExitStatus {
        let title = Terminal.safe(archive.title)
        if !yes {
            let question = "Remove \(archive.id) (\"\(title)\", \(Terminal.size(archive.size)))? [y/N]"
            guard try Terminal.confirm(question) else { return .failed }
        }
        try store.remove(archive.id)
        common.tell(Removed(id: archive.id.text, removed: true), "\(archive.id): removed \"\(title)\"")
        return .done
    }
}
