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
            let path = try CookiesCommand.path(user, common)
            guard let data = FileManager.default.contents(atPath: file) else {
                throw StoreError(.notFound, "no such file, or it can't be read", place: file)
            }
            let count = Self.count(data)
            guard count > 0 else {
                throw CommandError(
                    .failed, code: "not-cookies", "this isn't a cookies.txt in the Netscape format", place: file,
                    hint: "export it with a browser extension for cookies.txt")
            }
            let temporary = path + ".new"
            try Folder.delete(temporary)
            let target = try Descriptor(path: temporary, flags: O_WRONLY | O_CREAT | O_EXCL)
            try data.withUnsafeBytes { try target.append($0) }
            try target.synchronize()
            try Folder.move(temporary, to: path)
            common.tell("\(user): \(Terminal.count(count, "cookie", "cookies")) set")
        }

        /// Counts lines with seven fields, as curl writes and reads them.
        private static func count(_ data: Data) -> Int {
            String(decoding: data.prefix(4 << 20), as: UTF8.self).split(whereSeparator: \.isNewline).count { line in
                let isComment = line.hasPrefix("#") && !line.hasPrefix("#HttpOnly_")
                return !isComment && line.split(separator: "\t", omittingEmptySubsequences: false).count == 7
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
            let path = try CookiesCommand.path(user, common)
            let existed = Folder.exists(path)
            try Folder.delete(path)
            common.tell("\(user): \(existed ? "cookies removed" : "no cookies stored")")
        }
    }

    /// Returns the path of a user's cookies, in a folder that exists.
    private static func path(_ user: String, _ common: CommonOptions) throws -> String {
        guard let name = Username(user) else {
            throw CommandError(usage: "a user's name has letters and digits only", hint: "use --user NAME")
        }
        let store = try common.openStore(repairing: false)
        let layout = CaptureLayout(store: store.layout, downloads: "")
        try layout.makeFolders()
        return layout.cookies(of: name.text)
    }
}
