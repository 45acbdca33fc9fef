// Shares a URL with a capture server, and keeps it until the server has it. Uses only the ShareKit library.
//
//     swift run ShareURL FOLDER CODE TEXT

import Foundation
import ShareKit

@main
struct ShareURL {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else { return print("usage: ShareURL FOLDER CODE TEXT") }
        do {
            try await share(arguments[3], code: arguments[2], in: arguments[1])
        } catch let error as ShareError {
            print("\(error.description(in: .english)). \(error.recovery(in: .english))")
            exit(1)
        }
    }

    static func share(_ text: String, code: String, in path: String) async throws {
        let folder = try ShareFolder(path: path)
        let code = try ConnectionCode(code)
        let profile = try folder.changeSettings { $0.connect(code) }

        // The URL is on disk when `add` returns.
        let queue = ShareQueue(folder: folder)
        let url = try SharedText.url(in: text, allowedDomains: try folder.settings().allowedDomains)
        try await queue.add([Share(url: url, sourceApp: "ShareURL")])

        let client = ShareClient(profile: profile, key: code.key, transport: SystemTransport(folder: folder))
        let result = try await ShareSender(queue: queue, client: client, settings: try folder.settings()).send()
        if let reason = result.reason { print(reason.description(in: .english)) }
        for entry in try await queue.entries().page(0) { print("\(entry.status.rawValue) \(entry.url)") }
    }
}
