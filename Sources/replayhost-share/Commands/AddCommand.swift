import ArgumentParser
import CaptureAPI
import Foundation
import ShareKit

/// `replayhost-share URL…`
struct AddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Share URLs. The name of this command can be left out.",
        discussion: """
            Of each text, the first URL is shared. Without texts, each line of standard input is one; lines without a URL are \
            ignored.

            Example:
              replayhost-share https://example.org/film
              wl-paste | replayhost-share --wait
            """)

    @Argument(help: "URLs, or texts with a URL in them.")
    var texts: [String] = []

    @Option(name: .long, help: ArgumentHelp("The user to save for: letters and digits.", valueName: "name"))
    var user: String?

    @Flag(name: .long, help: "Wait until all are saved. The exit code is 4 if one fails.")
    var wait = false

    @OptionGroup var common: DeviceOptions

    func validate() throws {
        if let user, Username(user) == nil {
            throw ValidationError("Username must contain only letters and numbers.")
        }
    }

    func run() async throws {
        let device = try common.device()
        let settings = try device.folder.settings()
        var statuses: [ExitStatus] = []
        var shares: [Share] = []
        for text in try sharedTexts() {
            do throws(ShareError) {
                let url = try SharedText.url(in: text, allowedDomains: settings.allowedDomains)
                if SharedText.hasSeveralURLs(text) {
                    common.note("Only the first URL of a text is shared: \(url.text)")
                }
                let user = self.user ?? (settings.username.isEmpty ? nil : settings.username)
                shares.append(
                    Share(url: url, username: user, options: settings.options, sourceApp: "replayhost-share"))
            } catch {
                statuses.append(common.report(error, at: String(text.prefix(80))))
            }
        }
        guard !shares.isEmpty else { return try ExitStatus.throwUnlessDone(statuses) }
        do {
            try await device.queue.add(shares)
        } catch {
            // Without room on the disk, the URLs must not be lost.
            for share in shares { Output.write(share.url) }
            throw error
        }
        let result = try await device.send()
        statuses += try await report(shares, device, result.reason)
        try ExitStatus.throwUnlessDone(statuses)
    }

    private func sharedTexts() throws -> [String] {
        guard texts.isEmpty else { return texts }
        guard let input = try Input.standard() else {
            throw ValidationError("give a URL, or text on standard input")
        }
        let lines = String(decoding: input, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        let found = lines.filter { $0.range(of: "https?://", options: [.regularExpression, .caseInsensitive]) != nil }
        return found.isEmpty ? [lines.joined(separator: " ")] : found
    }

    /// Says what became of shares.
    private func report(_ shares: [Share], _ device: Device, _ reason: Share.Reason?) async throws -> [ExitStatus] {
        let queued = Dictionary(try await device.queue.all().map { ($0.id, $0) }) { first, _ in first }
        let entries = try await device.queue.entries().entries
        var statuses: [ExitStatus] = []
        var downloads: [String] = []
        var waiting: Share.Reason?
        for share in shares {
            if let now = queued[share.id] {
                if common.json { Output.writeJSON(now) }
                if let id = now.serverDownloadId {
                    downloads.append(id)
                    if !common.json { Output.write("\(id): confirmed \(now.url)") }
                } else {
                    statuses.append(.keptForLater)
                    waiting = waiting ?? now.reason ?? reason
                    if !common.json { Output.write("\(now.shortID): kept for later \(now.url)") }
                }
            } else {
                let message = entries.first { $0.id == share.id }?.message ?? ""
                statuses.append(common.report(ShareError(.refused, message), at: share.url))
            }
        }
        if let waiting { common.note(Self.advice(waiting)) }
        if wait { statuses += try await followed(downloads, try device.client()) }
        return statuses
    }

    /// Why shares wait, and what sends them.
    static func advice(_ reason: Share.Reason) -> String {
        let next =
            reason.stops
            ? reason.error.recovery(in: .english)
            : "The next share sends it, and so does `replayhost-share retry`."
        return "\(reason.description(in: .english)). \(next)"
    }

    /// Waits until downloads have ended.
    private func followed(_ ids: [String], _ client: ShareClient) async throws -> [ExitStatus] {
        var statuses: [ExitStatus] = []
        for id in ids {
            let download = try await Self.end(of: id, client, showsProgress: !common.json && Output.isErrorTerminal)
            common.tell(download, "\(id): \(download.title ?? download.url): \(download.stateText(in: .english))")
            statuses.append(download.status == .completed ? .done : .downloadFailed)
        }
        return statuses
    }

    private static func end(of id: String, _ client: ShareClient, showsProgress: Bool) async throws -> Download {
        defer { if showsProgress { Output.showProgress("") } }
        var failures = 0
        while true {
            do {
                var last: Download?
                for try await download in client.updates(of: id) {
                    last = download
                    failures = 0
                    if showsProgress { Output.showProgress(download.stateText(in: .english)) }
                }
                if let last { return last }
            } catch let error as ShareError where [.unreachable, .timedOut].contains(error.code) && failures < 10 {
                // The download goes on without the network.
                failures += 1
                try await Task.sleep(nanoseconds: 2_000_000_000)
            }
        }
    }
}
