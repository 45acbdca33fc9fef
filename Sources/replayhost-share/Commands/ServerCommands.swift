import ArgumentParser
import CaptureAPI
import Foundation
import ShareKit
import TerminalText

/// `replayhost-share status`
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show how far downloads are.")

    @Argument(help: ArgumentHelp("The IDs of downloads, or of what you shared.", valueName: "id"))
    var ids: [String]

    @OptionGroup var common: DeviceOptions

    func run() async throws {
        let device = try common.device()
        let client = try device.client()
        var statuses: [ExitStatus] = []
        for id in ids {
            do throws(ShareError) {
                let download = try await client.status(of: try await device.downloadID(id))
                common.tell(download, "\(download.title ?? download.url): \(download.stateText(in: .english))")
            } catch {
                statuses.append(common.report(error, at: id))
            }
        }
        try ExitStatus.throwUnlessDone(statuses)
    }
}

/// `replayhost-share log`
struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "log", abstract: "Print the log of a download.")

    @Argument(help: ArgumentHelp("The ID of a download, or of what you shared.", valueName: "id"))
    var id: String

    @OptionGroup var common: DeviceOptions

    func run() async throws {
        let device = try common.device()
        let client = try device.client()
        let id = try await device.downloadID(id)
        var offset = 0
        while true {
            let page = try await client.log(of: id, offset: offset)
            for line in page.lines { common.tell(line, line) }
            offset += page.lines.count
            if page.lines.isEmpty || offset >= page.total { return }
        }
    }
}

/// `replayhost-share test`
struct TestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Test the connection, and say what is wrong and what to do.")

    @OptionGroup var common: DeviceOptions

    private struct Check: Encodable {
        var name: String
        var isGood: Bool
        var what: String
        var hint: String?
    }

    func run() async throws {
        let device = try common.device()
        guard let profile = try device.folder.settings().profile else { throw ShareError(.notConfigured) }
        let client = try device.client()
        var checks: [Check] = []
        do throws(ShareError) {
            let health = try await client.health()
            checks.append(
                Check(
                    name: "server", isGood: true,
                    what: "\(profile.baseURL) responds, version \(health.version) of the API"))
            if profile.scheme == .https {
                let root = profile.fingerprint.map { "of the root \($0)" } ?? "that this computer trusts"
                checks.append(Check(name: "certificate", isGood: true, what: "the server has a certificate \(root)"))
            } else {
                checks.append(
                    Check(name: "certificate", isGood: true, what: "none: this connection isn't encrypted (http)"))
            }
            _ = try await client.connection()
            checks.append(Check(name: "key", isGood: true, what: "the server accepts the key of this computer"))
        } catch {
            let name = error.code == .untrusted ? "certificate" : error.code == .key ? "key" : "server"
            checks.append(
                Check(
                    name: name, isGood: false, what: "\(profile.baseURL): \(error.description(in: .english))",
                    hint: error.recovery(in: .english)))
        }
        let waiting = try await device.queue.all().count { $0.status != .confirmed }
        checks.append(Check(name: "queue", isGood: true, what: "\(waiting) waiting in \(device.folder.path)"))
        for check in checks {
            common.tell(
                check, row: "\(check.isGood ? "ok   " : "error") \(check.name): \(TerminalText.safe(check.what))")
            if let hint = check.hint, !common.json { Output.write("      hint: \(hint)") }
        }
        if checks.contains(where: { !$0.isGood }) { throw ExitStatus.failed }
    }
}

/// `replayhost-share settings`
struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show or change the settings of this computer.",
        discussion: """
            Example:
              replayhost-share settings
              replayhost-share settings height 720
              replayhost-share settings allowedDomains example.org,example.net
              replayhost-share settings network wan
            """)

    @Argument(help: ArgumentHelp("The setting to show or change (default: show all).", valueName: "name"))
    var name: String?

    @Argument(help: ArgumentHelp("Its new value.", valueName: "value"))
    var value: String?

    @OptionGroup var common: DeviceOptions

    func run() async throws {
        let device = try common.device()
        guard let name, let value else { return try show(try device.folder.settings(), only: name) }
        let problem = try device.folder.changeSettings { settings -> ShareError? in
            do throws(ShareError) {
                try settings.set(name, to: value)
                return nil
            } catch {
                return error
            }
        }
        if let problem { throw problem }
        try show(try device.folder.settings(), only: name)
    }

    private func show(_ settings: ShareSettings, only name: String?) throws {
        let values = settings.values.filter { name == nil || $0.name == name }
        guard !values.isEmpty else { throw ShareError(.invalidSetting, name ?? "") }
        if common.json {
            Output.writeJSON(Dictionary(values.map { ($0.name, $0.value) }) { first, _ in first })
        } else {
            for (name, value) in values { Output.write("\(name): \(value)") }
        }
    }
}
