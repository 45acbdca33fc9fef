import ArchiveStore
import ArgumentParser
import CaptureAPI
import CaptureServer
import CommandSupport

/// `replayhost-capture keys`
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Add, list or revoke the keys of devices.",
        discussion: """
            A device on your network needs a key. Give each device its own, so that you can revoke one without the others. \
            `replayhost-capture setup` makes a key and shows how to connect a phone.

            Example:
              replayhost-capture keys list
            """,
        subcommands: [AddKey.self, ListKeys.self, RevokeKey.self])

    /// `replayhost-capture keys add NAME`
    struct AddKey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Make a key for a device.",
            discussion: """
                The key is shown once. Only its SHA-256 is kept.

                Example:
                  replayhost-capture keys add "Ana's phone" --user ana
                """)

        @Argument(help: "What you call the device.")
        var name: String

        @Option(
            name: .long,
            help: ArgumentHelp(
                "The user whose downloads the device adds and sees (default: sees all; each request can name a user).",
                valueName: "name"))
        var user: String?

        @Flag(name: .customLong("admin"), help: "Also let the device change keys and the configuration, over https.")
        var isAdministrator = false

        @OptionGroup var common: CommonOptions

        func run() async throws {
            let made = try await APIKeys.use(common) {
                try $0.add(name, user: user, isAdministrator: isAdministrator)
            }
            if common.json {
                struct Answer: Encodable {
                    let key: KeyDescription
                    let secret: String
                }
                return Terminal.writeJSON(Answer(key: made.key, secret: made.text))
            }
            Terminal.write(made.text)
            common.note("Keep it now; it isn't shown again. The device sends it as Authorization: Bearer KEY.")
        }
    }

    /// `replayhost-capture keys list`
    struct ListKeys: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the keys: ID, device, user, last use.",
            discussion: """
                Example:
                  replayhost-capture keys list
                """)

        @OptionGroup var common: CommonOptions

        func run() async throws {
            let keys = try await APIKeys.use(common) { try $0.all() }
            if common.json { return Terminal.writeJSON(each: keys) }
            for key in keys {
                let holder = key.isAdministrator ? "administrator" : key.username ?? "any user"
                let use =
                    key.revokedAt.map { "revoked \($0)" } ?? key.lastUsedAt.map { "last used \($0)" } ?? "never used"
                Terminal.writeRow("\(key.id)  \(Terminal.safe(key.name))  \(holder)  \(use)")
            }
            if keys.isEmpty { common.note("No keys; add one with `replayhost-capture keys add NAME`.") }
        }
    }

    /// `replayhost-capture keys revoke NAME`
    struct RevokeKey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "End a key at once.",
            discussion: """
                Example:
                  replayhost-capture keys revoke "Ana's phone"
                """)

        @Argument(help: "The name of the device, or the ID of the key.")
        var name: String

        @OptionGroup var common: CommonOptions

        func run() async throws {
            guard let key = try await APIKeys.use(common, { try $0.revoke(name) }) else {
                throw CommandError(
                    .notFound, code: "not-found", "no key in use has the name or ID \"\(name)\"",
                    hint: "run `replayhost-capture keys list` to see all keys")
            }
            common.tell(key, "revoked the key of \(key.name)")
        }
    }
}

/// `replayhost-capture users`
struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "List the users, and how much each has saved.",
        discussion: """
            A user is created with their first download or key, and has a folder of their own.

            Example:
              replayhost-capture users
            """)

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let users = try await APIKeys.use(common) { try $0.users() }
        for user in users {
            if common.json {
                Terminal.writeJSON(user)
            } else {
                Terminal.writeRow("\(user.username)  \(Terminal.count(user.downloads, "download", "downloads"))")
            }
        }
        if users.isEmpty { common.note("No users yet.") }
    }
}

extension APIKeys {
    /// Changes or reads the keys of a store, beside a running server or without one.
    static func use<Value>(_ common: CommonOptions, _ body: (APIKeys) throws -> Value) async throws -> Value {
        let store = try common.openStore(repairing: false)
        try CaptureLayout(store: store.layout, downloads: "").makeFolders()
        return try await whileServerStarts {
            if try RunningServer(at: store.layout.captureServerFile) != nil {
                return try body(APIKeys(besideServer: store.layout))
            }
            // No server starts meanwhile.
            let lock = try ServerFile(ofCaptureServerIn: store.layout)
            return try withExtendedLifetime(lock) { try body(APIKeys(CaptureDatabase(layout: store.layout))) }
        }
    }

    /// - Throws: `CommandError` for a name or a user that can't be used.
    func add(_ name: String, user: String?, isAdministrator: Bool) throws -> (text: String, key: KeyDescription) {
        let username = user.flatMap { Username($0) }
        guard (user == nil) == (username == nil) else {
            throw CommandError(usage: "a user's name has letters and digits only", hint: "use --user NAME")
        }
        do {
            return try add(name, user: username, isAdministrator: isAdministrator)
        } catch let problem as Problem {
            throw CommandError(.failed, code: "invalid-key", problem.sentence)
        }
    }
}
