// A program that embeds a replay host. It imports the given archives, prints the URL of the first, and then reads
// commands from standard input: `stop`, `start`, `list`. It exits at the end of the input.
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
            // A code for programs and a message for people.
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
        say("open: \(try host.replayURL(for: imported[0].id))")

        while let command = readLine() {
            switch command {
            case "stop":
                await host.stop()
                say("stopped")
            case "start":
                // Uses the same port as before, so open pages keep working.
                let port = try await host.start().port
                say("started: \(port)")
            case "list":
                for archive in try await host.archives { say("\(archive.id): \(archive.title)") }
            default:
                say("unknown command; enter stop, start or list")
            }
        }
        await host.stop()
    }

    /// Writes a line without buffering, even if the output isn't a terminal.
    static func say(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }
}
