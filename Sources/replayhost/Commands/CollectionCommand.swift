import ArchiveStore
import ArgumentParser
import CommandSupport
import WebArchive

/// `replayhost collection …`
struct CollectionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collection",
        abstract: "Manage collections: archives that replay together.",
        discussion: """
            Each part of a page comes from the capture closest in time. An archive can be in several collections. \
            Use `replayhost edit` to change a collection's title, tags and notes.

            Example:
              replayhost collection create "The harbour" harbour-2023 harbour-2024
            """,
        subcommands: [Create.self, List.self, Info.self, Add.self, Drop.self, Export.self, Remove.self],
        defaultSubcommand: List.self
    )

    /// Says how to replay archives together.
    static func togetherHint(_ members: [String]) -> String {
        "To replay them together: replayhost collection create \"TITLE\" \(members.joined(separator: " "))"
    }

    /// `replayhost collection create TITLE ID…`
    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a collection.",
            discussion: """
                Example:
                  replayhost collection create "The harbour" harbour-2023 harbour-2024
                """)

        @Argument(help: "The title.")
        var title: String

        @Argument(help: ArgumentHelp("Archive IDs, unique prefixes of them, or titles.", valueName: "member"))
        var members: [String]

        @Option(name: .long, help: ArgumentHelp("The collection's ID (default: from the title).", valueName: "id"))
        var id: String?

        @OptionGroup var common: CommonOptions

        func validate() throws {
            if let id, ArchiveID(id) == nil {
                throw ValidationError("--id \"\(id)\" isn't valid; use 1 to 63 characters: a-z, 0-9 and single hyphens")
            }
        }

        func run() throws {
            let store = try common.openStoreToChange()
            let members = try members.map { try store.resolver.archive(matching: $0).id }
            let collection = try store.collections.make(
                id: id.flatMap { ArchiveID($0) }, title: title, members: members)
            try CollectionCommand.tell(collection, "created", store, common)
        }
    }

    /// `replayhost collection export ID`
    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Save all archives of a collection as one multi-WACZ file.",
            discussion: """
                Example:
                  replayhost collection export harbour --output harbour.wacz
                """)

        @Argument(help: ArgumentHelp("The collection's ID, a unique prefix of it, or its title.", valueName: "id"))
        var id: String

        @Option(
            name: .long,
            help: ArgumentHelp(
                "The new file (default: in the current folder, named after the collection).", valueName: "file")
        )
        var output: String?

        @OptionGroup var common: CommonOptions

        func run() throws {
            let store = try common.openExistingStore()
            let collection = try store.collections.collection(matching: id)
            let path = output ?? "\(collection.id).wacz"
            try ExportOutput(name: collection.id.text, common: common).run { line in
                let exporter = Exporter(store) { try line.show($0, of: $1) }
                return .file(try exporter.collection(collection, to: .newFile(path)), path: path)
            }
        }
    }

    /// `replayhost collection list`
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List collections, newest first.",
            discussion: """
                Example:
                  replayhost collection list --json
                """)

        @OptionGroup var common: CommonOptions

        func run() throws {
            common.noteStore()
            let store = try common.openStoreIfAny()
            let collections =
                try store.map { store in try store.collections.details() } ?? []
            if common.json { return Terminal.writeJSON(each: collections.map { ListedCollection($0) }) }
            if collections.isEmpty {
                return common.note("No collections yet. Create one with `replayhost collection create`.")
            }
            let shortIDs = try store?.resolver.shortIDs()
            var table = Table(["TITLE", "ID", "MEMBERS", "STATE"], truncatable: ["TITLE", "MEMBERS"])
            for details in collections {
                let (id, members) = (details.collection.id, details.members.map(\.archive.id))
                table.add(
                    [
                        Terminal.title(details.collection.title), id.text,
                        members.map(\.text).joined(separator: ", "), details.availability.rawValue,
                    ],
                    short: [
                        "ID": shortIDs?[id] ?? id.text,
                        "MEMBERS": members.map { shortIDs?[$0] ?? $0.text }.joined(separator: ", "),
                    ])
            }
            table.write()
        }
    }

    /// `replayhost collection info ID`
    struct Info: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a collection.",
            discussion: """
                Example:
                  replayhost collection info the-harbour
                """)

        @Argument(help: "The collection's ID, a unique prefix of it, or its title.")
        var id: String

        @OptionGroup var common: CommonOptions

        func run() throws {
            let store = try common.openExistingStore()
            let details = try store.collections.details(of: try store.collections.collection(matching: id))
            if common.json { return Terminal.writeJSON(details) }
            let collection = details.collection
            Terminal.writeRow("id:      \(collection.id)")
            Terminal.writeRow("title:   \(Terminal.value(collection.title))")
            if !collection.tags.isEmpty {
                Terminal.writeRow("tags:    \(Terminal.value(collection.tags.joined(separator: ", ")))")
            }
            if !collection.notes.isEmpty { Terminal.writeRow("notes:   \(Terminal.value(collection.notes))") }
            Terminal.writeRow("created: \(RFC3339.text(of: collection.createdAt))")
            for member in details.members {
                let state = member.availability == .available ? "" : " (\(member.availability.rawValue))"
                Terminal.writeRow("member:  \(member.archive.id), \(Terminal.safe(member.archive.title))\(state)")
            }
        }
    }

    /// `replayhost collection add ID MEMBER…`
    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add archives to a collection.",
            discussion: """
                Example:
                  replayhost collection add the-harbour harbour-2025
                """)

        @Argument(help: "The collection's ID, a unique prefix of it, or its title.")
        var id: String

        @Argument(help: ArgumentHelp("Archive IDs, unique prefixes of them, or titles.", valueName: "member"))
        var members: [String]

        @OptionGroup var common: CommonOptions

        func run() throws {
            let store = try common.openStoreToChange()
            let added = try members.map { try store.resolver.archive(matching: $0).id }
            let collection = try store.collections.edit(
                try store.collections.collection(matching: id).id, ArchiveMetadata()
            ) {
                $0 + added
            }
            try CollectionCommand.tell(collection, "updated", store, common)
        }
    }

    /// `replayhost collection drop ID MEMBER…`
    struct Drop: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove archives from a collection; they stay in the library.",
            discussion: """
                Example:
                  replayhost collection drop the-harbour harbour-2023
                """)

        @Argument(help: "The collection's ID, a unique prefix of it, or its title.")
        var id: String

        @Argument(help: ArgumentHelp("Archive IDs, unique prefixes of them, or titles.", valueName: "member"))
        var members: [String]

        @OptionGroup var common: CommonOptions

        func run() throws {
            let store = try common.openStoreToChange()
            let dropped = try members.map { try store.resolver.archive(matching: $0).id }
            let collection = try store.collections.collection(matching: id)
            if let missing = dropped.first(where: { !collection.members.contains($0) }) {
                throw StoreError(.notFound, "\"\(missing)\" isn't in the collection", place: collection.id.text)
            }
            let changed = try store.collections.edit(collection.id, ArchiveMetadata()) {
                $0.filter { !dropped.contains($0) }
            }
            try CollectionCommand.tell(changed, "updated", store, common)
        }
    }

    /// `replayhost collection remove ID`
    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a collection; its archives stay in the library.",
            discussion: """
                Asks for confirmation, unless you add --yes.

                Example:
                  replayhost collection remove the-harbour --yes
                """)

        @Argument(help: "The collection's ID, a unique prefix of it, or its title.")
        var id: String

        @Flag(name: .long, help: "Don't ask for confirmation.")
        var yes = false

        @OptionGroup var common: CommonOptions

        func run() throws {
            let store = try common.openStoreToChange()
            let collection = try store.collections.collection(matching: id)
            if !yes {
                let question = "Remove the collection \(collection.id) (\"\(collection.title)\")? [y/N]"
                guard try Terminal.confirm(question) else { throw ExitStatus.failed }
            }
            try store.collections.remove(collection.id)
            common.tell(
                Removed(id: collection.id.text),
                "\(collection.id): removed; its archives stay in the library")
        }
    }

    private static func tell(
        _ collection: ArchiveCollection, _ verb: String, _ store: ArchiveStore, _ common: CommonOptions
    ) throws {
        let members = collection.members.map(\.text).joined(separator: ", ")
        common.tell(
            try store.collections.details(of: collection),
            "\(collection.id): \(verb) \(Terminal.quotation(collection.title)) (\(members.isEmpty ? "no members" : members))"
        )
    }
}

/// `replayhost group …`, the former name of `collection` (0.1.0).
struct GroupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "group", shouldDisplay: false, subcommands: CollectionCommand.configuration.subcommands,
        defaultSubcommand: CollectionCommand.List.self)
}
