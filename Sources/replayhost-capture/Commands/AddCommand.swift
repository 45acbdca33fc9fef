import ArchiveStore
public import ArgumentParser
public import CaptureAPI
import CaptureServer
import CommandSupport
import Foundation

/// `replayhost-capture add URL…`
struct AddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Save URLs.",
        discussion: """
            The running server saves them. Without a server, they wait in the queue until one runs, and the exit code is \
            75. At most 100 URLs start in an hour; those of the next 24 hours are kept for later.

            Example:
              replayhost-capture add --wait https://example.org/film
              replayhost-capture add - < urls.txt
            """)

    @Argument(help: "The URLs to save; - reads them from standard input, one a line.")
    var urls: [String]

    @Option(name: .long, help: ArgumentHelp("The user to save for: letters and digits.", valueName: "name"))
    var user: String?

    @Option(name: .long, help: "What to save: auto decides by the URL, media saves no page, page saves only the page.")
    var mode: DownloadOptions.Mode?

    @Option(name: .long, help: "What to keep of a video.")
    var form: DownloadOptions.Form?

    @Option(name: .long, help: ArgumentHelp("The maximum height of a video, 144 to 4320.", valueName: "pixels"))
    var height: Int?

    @Option(name: .long, help: "The format of the media file.")
    var container: DownloadOptions.Container?

    @Option(
        name: .customLong("audio-quality"), help: "The sample rate of audio; needs --form audio or an audio container.")
    var audioQuality: DownloadOptions.AudioQuality?

    @Option(
        name: .long,
        help: ArgumentHelp("The collection in the library that the archives are added to.", valueName: "id"))
    var collection: String?

    @Flag(name: .long, help: "Wait until all are saved. The exit code is 4 if one fails.")
    var wait = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let (client, queue) = try await place()
        var added: [String] = []
        var statuses: [ExitStatus] = []
        var waiting: [String] = []
        for url in urls.flatMap({ $0 == "-" ? Self.standardInput() : [$0] }) {
            do {
                let body = try body(url)
                let receipt: DownloadReceipt
                if let client {
                    let key = ("Idempotency-Key", UUID().uuidString.lowercased())
                    receipt = try client.call(
                        DownloadReceipt.self, "POST", "/download?later=1", body: body, fields: [key])
                } else if let queue {
                    receipt = try await queue.add(body)
                } else {
                    continue
                }
                added.append(receipt.downloadID)
                if let start = receipt.notBefore { waiting.append(start) }
                let before = receipt.savedBefore.map { " (saved before, at \($0))" } ?? ""
                common.tell(
                    receipt, "\(receipt.downloadID): \(queue == nil ? "queued" : "kept for later") \(url)\(before)")
            } catch {
                statuses.append(common.report(error))
            }
        }
        if let last = waiting.max() {
            common.note(
                "\(waiting.count) of \(added.count) URLs wait for the hourly limit or their site; the last one starts at \(last) or later"
            )
        }
        if queue != nil, !added.isEmpty {
            common.note("no server is running; start it with `replayhost-capture serve`")
            statuses.append(.keptForLater)
        } else if wait {
            for id in added { statuses.append(try await waitForEnd(id)) }
        }
        try ExitStatus.throwUnlessDone(statuses)
    }

    private static func standardInput() -> [String] {
        var lines: [String] = []
        while let line = readLine() {
            let text = line.trimmingCharacters(in: .whitespaces)
            if !text.isEmpty { lines.append(text) }
        }
        return lines
    }

    /// Finds the running server; without one, opens the queue. Waits for a server that is starting, or another `add`.
    private func place() async throws -> (CaptureClient?, QueueWithoutServer?) {
        try await whileServerStarts {
            if let client = try CaptureClient(common) { return (client, nil) }
            return (nil, try await QueueWithoutServer(common))
        }
    }

    /// Returns the body of the request.
    private func body(_ url: String) throws -> [UInt8] {
        struct Body: Encodable {
            let url: String
            let username: String?
            let options: DownloadOptions
        }
        let options = DownloadOptions(
            mode: mode, form: form, height: height, container: container, audioQuality: audioQuality,
            collection: collection)
        return Array(try JSONEncoder().encode(Body(url: url, username: user, options: options)))
    }

    /// Waits until a download has ended.
    private func waitForEnd(_ id: String) async throws -> ExitStatus {
        var shown = ""
        while true {
            let download = try QueueReader.download(id, common).download
            if download.state.hasEnded {
                if !shown.isEmpty { Terminal.showProgress("") }
                let text = DownloadText.line(download)
                if common.json { Terminal.writeJSON(download) } else { common.tell(text) }
                return download.state == .completed ? .done : .damaged
            }
            if Terminal.isErrorTerminal, !common.quiet, !common.json {
                shown = DownloadText.line(download)
                Terminal.showProgress(String(shown.prefix(Terminal.columns - 1)))
            }
            try await Task.sleep(for: .milliseconds(300))
        }
    }
}

extension DownloadOptions.Mode: @retroactive ExpressibleByArgument {}
extension DownloadOptions.Form: @retroactive ExpressibleByArgument {}
extension DownloadOptions.Container: @retroactive ExpressibleByArgument {}
extension DownloadOptions.AudioQuality: @retroactive ExpressibleByArgument {}

/// The queue, for as long as no server uses it.
private struct QueueWithoutServer {
    private let store: ArchiveStore
    private let queue: DownloadQueue
    private let lock: ServerFile

    init(_ common: CommonOptions) async throws {
        store = try common.openStore(repairing: false)
        try CaptureLayout(store: store.layout, downloads: "").makeFolders()
        lock = try ServerFile(ofCaptureServerIn: store.layout)
        do {
            queue = DownloadQueue(database: try CaptureDatabase(layout: store.layout))
        } catch let error where CaptureDatabase.isBusy(error) {
            throw Self.busy
        }
    }

    private static let busy = CommandError(
        .keptForLater, code: "busy", "another program has locked the queue; nothing was kept, try again later")

    func add(_ body: [UInt8]) async throws -> DownloadReceipt {
        do {
            let request = try DownloadRequest(json: Data(body))
            if let id = request.options.collection, let problem = try WantedCollection.problem(id, in: store) {
                throw DownloadRequest.Refusal.invalid([problem], isFromOlderClient: false)
            }
            switch try await queue.accept(request, key: nil, keepsForLater: true) {
            case .added(let row, _), .known(let row):
                return DownloadReceipt(
                    of: row.download, savedBefore: try await queue.lastSaved(row), isForOlderClient: false, at: Date())
            case .tooMany: throw CommandError(.failed, code: "rate_limited", "the downloads of a day are waiting")
            case .conflict, .removed:
                throw CommandError(.failed, code: "conflict", "the download can't be added")
            }
        } catch let error where CaptureDatabase.isBusy(error) {
            throw Self.busy
        } catch let refusal as DownloadRequest.Refusal {
            var problem: FieldProblem?
            if case .invalid(let problems, _) = refusal { problem = problems.first }
            throw CommandError(
                .usage, code: "invalid_parameter", problem?.msg ?? "invalid request",
                place: problem?.loc.dropFirst().joined(separator: "."))
        }
    }
}
