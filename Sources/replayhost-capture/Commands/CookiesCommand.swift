import ArchiveStore
import ArgumentParser
import CaptureAPI
import CaptureServer
import CommandSupport
import Foundation

/// `replayhost-capture cookies`
struct CookiesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cookies",
        abstract: "Set or remove the cookies of a user, for sites that want a log-in.",
        discussion: """
            Tools get a copy of the file. Cookies are never in an archive, a log or a URL.

            Example:
              replayhost-capture cookies set --user john cookies.txt
            """,
        subcommands: [SetCookies.self, RemoveCookies.self])

    /// `replayhost-capture cookies set --user USER FILE`
    struct SetCookies: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Store a cookies.txt (Netscape format) for a user.",
            discussion: """
                Example:
                  replayhost-capture cookies set --user john cookies.txt
                """)

        @Option(name: .long, help: ArgumentHelp("Whose downloads use them.", valueName: "name"))
        var user = Username.standard.text

        @Argument(help: "The cookies.txt.", completion: .file(extensions: ["txt"]))
        var file: String

        @OptionGroup var common: CommonOptions

        func run() throws {
            let (files, name) = try CookiesCommand.files(user, common)
            guard let data = FileManager.default.contents(atPath: file) else {
                throw StoreError(.notFound, "no such file, or it can't be read", place: file)
            }
            do {
                let count = try files.set(data, for: name)
                common.tell("\(name.text): \(Terminal.count(count, "cookie", "cookies")) set")
            } catch is CookieFiles.NotCookies {
                throw CommandError(
                    .failed, code: "not-cookies", CookieFiles.NotCookies.sentence, place: file,
                    hint: "export it with a browser extension for cookies.txt")
            }
        }
    }

    /// `replayhost-capture cookies remove --user USER`
    struct RemoveCookies: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Delete the cookies of a user.",
            discussion: """
                Example:
                  replayhost-capture cookies remove --user john
                """)

        @Option(name: .long, help: ArgumentHelp("Whose cookies to delete.", valueName: "name"))
        var user = Username.standard.text

        @OptionGroup var common: CommonOptions

        func run() throws {
            let (files, name) = try CookiesCommand.files(user, common)
            let existed = try files.remove(of: name)
            common.tell("\(name.text): \(existed ? "cookies removed" : "no cookies stored")")
        }
    }

    /// Returns the cookies of a store, in a folder that exists, and a user's name.
    private static func files(_ user: String, _ common: CommonOptions) throws -> (CookieFiles, Username) {
        guard let name = Username(user) else {
            throw CommandError(usage: "a user's name has letters and digits only", hint: "use --user NAME")
        }
        let store = try common.openStore(repairing: false)
        let layout = CaptureLayout(store: store.layout, downloads: "")
        try layout.makeFolders()
        return (CookieFiles(layout), name)
    }
}
