import ArgumentParser
import Foundation
import ShareKit
import TerminalText

/// `replayhost-share pending`
struct PendingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending", abstract: "List the URLs that the server doesn't have yet.")

    @OptionGroup var common: DeviceOptions

    func run() async throws {
        let device = try common.device()
        let unsent = try await device.queue.all().filter { $0.status != .confirmed }
        for share in unsent {
            common.tell(
                share,
                row: "\(share.shortID)  \(TerminalText.safe(Self.state(share)))  \(TerminalText.safe(share.url))")
        }
        if unsent.isEmpty { common.note("The server has all URLs that you shared.") }
    }

    private static func state(_ share: Share) -> String {
        switch share.status {
        case .uploading: return "sending"
        case .failed: return "failed (\(share.reason?.description(in: .english) ?? "")); retry it"
        case .pending, .confirmed:
            guard let reason = share.reason else { return "pending" }
            let attempts = share.attemptCount > 0 ? ", attempt \(share.attemptCount)" : ""
            return "pending (\(reason.description(in: .english))\(attempts))"
        }
    }

    /// Says how many shares wait, and why. Throws the exit code for that.
    static func summarize(_ device: Device, _ common: DeviceOptions, _ reason: Share.Reason?) async throws {
        let unsent = try await device.queue.all().filter { $0.status != .confirmed }
        guard !unsent.isEmpty else { return common.note("The server has all URLs that you shared.") }
        common.note(unsent.count == 1 ? "1 URL is kept for later." : "\(unsent.count) URLs are kept for later.")
        if let reason { common.note(AddCommand.advice(reason)) }
        throw ExitStatus.keptForLater
    }
}

/// `replayhost-share retry`
struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Send now what the server doesn't have yet, also what has failed.")

    @Argument(help: ArgumentHelp("The IDs of shares, or their beginnings (default: all).", valueName: "id"))
    var ids: [String] = []

    @OptionGroup var common: DeviceOptions

    func run() async throws {
        let device = try common.device()
        if ids.isEmpty { try await device.queue.retry() }
        for id in ids { try await device.queue.retry(try await device.share(id).id) }
        let before = try await device.queue.all().filter { $0.status != .confirmed }
        let result = try await device.send()
        let queued = Dictionary(try await device.queue.all().map { ($0.id, $0) }) { first, _ in first }
        var statuses: [ExitStatus] = []
        for share in before {
            if let now = queued[share.id] {
                guard let id = now.serverDownloadId else { continue }
                common.tell(now, "\(id): confirmed \(now.url)")
            } else {
                let entry = try await device.queue.entries().entries.first { $0.id == share.id }
                statuses.append(common.report(ShareError(.refused, entry?.message ?? ""), at: share.url))
            }
        }
        try ExitStatus.throwUnlessDone(statuses)
        try await PendingCommand.summarize(device, common, result.reason)
    }
}
