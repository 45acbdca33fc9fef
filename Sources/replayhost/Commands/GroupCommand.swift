import ArchiveStore
import ArgumentParser
import WebArchive

/// `replayhost group …`
struct GroupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "group",
        abstract: "Groups: archives that are replayed as one.",
        discussion: """
            A page and what it needs come from whichever archive of the group has the closest capture. An archive may be \
            in several groups; it stays an archive of its own. `replayhost edit` changes a group's title, tags and notes.

            Examples:
              replayhost group create "The harbour" harbour-2023 harbour-2024
              replayhost group list
            """,
        subcommands: [Create.self, List.self, Info.self, Add.self, Drop.self, Remove.self], defaultSubcommand: List.self
    )

    /// `replayhost group create TITLE ID…`
    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a group of archives.",
            discussion: """
                Example:
                  replayhost group create "The harbour" harbour-2023 harbour-2024
                """)

        @Argument(help: "The title.")
        var title: String

        @Argument(help: ArgumentHelp("Ids of archives, or unique beginnings of them.", valueName: "member"))
        var members: [String]

        @Option(name: .long, help: ArgumentHelp("An id instead of one made of the title.", valueName: "id"))
        var id: String?

        @OptionGroup var common: CommonOptions

        func validate() throws {
            if let id, ArchiveID(id) == nil {
                throw ValidationError("--id \"\(id)\" cannot be one; an id has 1 to 63 of a-z, 0-9 and single hyphens")
            }
        }

        func run() throws {
            let store = try common.openStoreToChange()
            let members = try members.map { try store.resolver.archive(matching: $0).id }
            let group = try store.collections.make(id: id.flatMap { ArchiveID($0) }, title: title, members: members)
            try GroupCommand.tell(group, "made", store, common)
        }
    }

    /// `replayhost group list`
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the groups, newest first.",
            discussion: """
                Example:
                  replayhost group list --json
                """)

        @OptionGroup var common: CommonOptions

        func run() throws {
            common.sayWhichStore()
            let store = try common.openStoreIfAny()
            let groups =
                try store.map { store in try store.collections.details() } ?? []
            if common.json {
                for group in groups { Terminal.write(Terminal.json(ListedGroup(group))) }
                return
            }
            if groups.isEmpty { return common.remark("no groups yet; replayhost group create makes one") }
            var table = Table(["ID", "TITLE", "MEMBERS", "STATE"], cut: ["TITLE", "MEMBERS"])
            for details in groups {
                table.add([
                    details.group.id.text, String(Terminal.safe(details.group.title).prefix(40)),
                    details.members.map(\.archive.id.text).joined(separator: ", "), details.availability.rawValue,
                ])
            }
            for line in table.lines() { Terminal.write(line) }
        }
    }

    /// `replayhost group info ID`
    struct Info: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show one group.",
            discussion: """
                Example:
                  replayhost group info the-harbour
                """)

        @Argument(help: "The group's id, or the unique beginning of one.")
        var id: String

        @OptionGroup var common: CommonOptions

        func run() throws {
            let store = try common.openExistingStore()
            let details = try store.collections.details(of: try store.collections.group(matching: id))
            if common.json { return Terminal.write(Terminal.json(details)) }
            let group = details.group
            Terminal.write("id:      \(group.id)")
            Terminal.write("title:   \(Terminal.safe(group.title))")
            if !group.tags.isEmpty { Terminal.write("tags:    \(Terminal.safe(group.tags.joined(separator: ", ")))") }
            if !group.notes.isEmpty { Terminal.write("notes:   \(Terminal.safe(group.notes))") }
            Terminal.write("created: \(RFC3339.text(of: group.createdAt))")
            for member in details.members {
                let state = member.availability == .here ? "" : " (\(member.availability.rawValue))"
                Terminal.write("member:  \(member.archive.id), \(Terminal.safe(member.archive.title))\(state)")
            }
        }
    }

    /// `replayhost group add ID MEMBER…`
    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Put archives into a group.",
            discussion: """
                Example:
                  replayhost group add the-harbour harbour-2025
                """)

        @Argument(help: "The group's id, or the unique beginning of one.")
        var id: String

        @Argument(help: ArgumentHelp("Ids of archives, or unique beginnings of them.", valueName: "member"))
        var members: [String]

        @OptionGroup var common: CommonOptions

        func run() throws {
            let store = try common.openStoreToChange()
            let added = try members.map { try store.resolver.archive(matching: $0).id }
            let group = try store.collections.edit(try store.collections.group(matching: id).id, ArchiveWords()) {
                $0 + added
            }
            try GroupCommand.tell(group, "changed", store, common)
        }
    }

    /// `replayhost group drop ID MEMBER…`
    struct Drop: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take archives out of a group; they stay in the store.",
            discussion: """
                Example:
                  replayhost group drop the-harbour harbour-2023
                """)

        @Argument(help: "The group's id, or the unique beginning of one.")
        var id: String

        @Argument(help: ArgumentHelp("Ids of archives, or unique beginnings of them.", valueName: "member"))
        var members: [String]

        @OptionGroup var common: CommonOptions

        func run() throws {
            let store = try common.openStoreToChange()
            let dropped = try members.map { try store.resolver.archive(matching: $0).id }
            let group = try store.collections.group(matching: id)
            if let stranger = dropped.first(where: { !group.members.contains($0) }) {
                throw StoreError(.notFound, "\"\(stranger)\" is not in the group", place: group.id.text)
            }
            let changed = try store.collections.edit(group.id, ArchiveWords()) { $0.filter { !dropped.contains($0) } }
            try GroupCommand.tell(changed, "changed", store, common)
        }
    }

    /// `replayhost group remove ID`
    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a group; its archives stay in the store.",
            discussion: """
                Asks first; --yes doesn't.

                Example:
                  replayhost group remove the-harbour --yes
                """)

        @Argument(help: "The group's id, or the unique beginning of one.")
        var id: String

        @Flag(name: .long, help: "Don't ask.")
        var yes = false

        @OptionGroup var common: CommonOptions

        private struct Removed: Encodable {
            let id: String
            let removed: Bool
        }

        func run() throws {
            let store = try common.openStoreToChange()
            let group = try store.collections.group(matching: id)
            if !yes {
                Terminal.ask("Remove the group \(group.id) (\(group.title))? [y/N]")
                guard let answer = readLine() else {
                    throw StoreError(
                        .failed, "not removed: nobody is there to be asked", place: group.id.text, hint: "give --yes")
                }
                guard ["y", "yes"].contains(answer.lowercased()) else {
                    Terminal.writeError("not removed")
                    throw ExitStatus.failed
                }
            }
            try store.collections.remove(group.id)
            common.tell(Removed(id: group.id.text, removed: true), "\(group.id): removed (its archives stay)")
        }
    }

    private static func tell(
        _ group: ArchiveGroup, _ verb: String, _ store: ArchiveStore, _ common: CommonOptions
    ) throws {
        let members = group.members.map(\.text).joined(separator: ", ")
        common.tell(
            try store.collections.details(of: group),
            "\(group.id): \(verb) (\(Terminal.safe(group.title)): \(members.isEmpty ? "no member" : members))")
    }
}
