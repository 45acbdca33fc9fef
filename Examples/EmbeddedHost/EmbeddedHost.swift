// A program with a replay host inside. It imports the archives that are named, prints where the first is looked at, and then does
// what it reads from standard input: `stop`, `start`, `list`; the end of the input ends it.
//
//     swift run EmbeddedHost STORE WWW ARCHIVE.wacz…

import Foundation
import ReplayHostKit

@main
struct EmbeddedHost {
    static func main() async throws {
        let paths = CommandLine.arguments.dropFirst().map { URL(fileURLWithPath: $0) }
        guard paths.count > 2 else {
            say("usage: EmbeddedHost STORE WWW ARCHIVE.wacz…")
            exit(2)
        }
        do {
            try await run(store: paths[0], assets: paths[1], archives: paths[2...])
        } catch let error as ReplayHostError {
            // Words for people, and a code for programs.
            say("\(error.code): \(error)")
            exit(1)
        }
    }

    static func run(store: URL, assets: URL, archives: some Sequence<URL>) async throws {
        let host = try ReplayHost(
            configuration: .init(storeFolder: store, assetsFolder: assets, port: .any, origins: .ports))
        let addresses = try await host.start()
        say("library: \(addresses.library)")

        var imported: [HostedArchive] = []
        for file in archives {
            imported += try await host.importArchive(file) { progress in
                if case .copying(let done, let total?) = progress { say("copied \(done) of \(total) bytes") }
            }
        }
        say("look at: \(try host.replayURL(for: imported[0].id))")

        while let command = readLine() {
            switch command {
            case "stop":
                await host.stop()
                say("stopped")
            case "start":
                // The same port as before: a page that is open goes on.
                let port = try await host.start().port
                say("started: \(port)")
            case "list":
                for archive in try await host.archives { say("\(archive.id): \(archive.title)") }
            default:
                say("stop, start or list?")
            }
        }
        await host.stop()
    }

    /// At once, also where nobody sits at a terminal.
    static func say(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }
}
