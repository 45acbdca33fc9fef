import ArchiveStore
import ArgumentParser

/// `replayhost remove ID…`
struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Delete archives from the store.",
        discussion: """
            Asks first; --yes doesn't. The file that an archive was imported from is not touched.

            Example:
              replayhost remove crawl --yes
            """)

    @Argument(help: "Ids, or unique beginnings of them.")
    var ids: [String]

    @Flag(name: .long, help: "Don't ask.")
    var yes = false

    @OptionGroup var common: CommonOptions

    func run() throws {
        let store = try common.openStoreToChange()
        var statuses: [ExitStatus] = []
        for id in ids {
            do {
                statuses.append(try remove(try store.resolver.archive(matching: id), from: store))
            } catch {
                let fault = Fault(error)
                fault.report(asJSON: common.json)
                statuses.append(fault.status)
            }
        }
        try ExitStatus.throwUnlessDone(statuses)
    }

    private struct Removed: Encodable {
        let id: String
        let removed: Bool
    }

    private func remove(_ archive: Archive, from store: ArchiveStore) throws -> ExitStatus {
        let title = Terminal.safe(archive.title)
        if !yes {
            Terminal.ask("Remove \(archive.id) (\(title), \(Terminal.size(archive.size)))? [y/N]")
            guard let answer = readLine() else {
                throw StoreError(
                    .failed, "not removed: nobody is there to be asked", place: archive.id.text, hint: "give --yes")
            }
            guard ["y", "yes"].contains(answer.lowercased()) else {
                Terminal.writeError("not removed")
                return .failed
            }
        }
        try store.remove(archive.id)
        common.tell(Removed(id: archive.id.text, removed: true), "\(archive.id): removed (\(title))")
        return .done
    }
}
