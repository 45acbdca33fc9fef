import ArchiveStore
import ArgumentParser
import CaptureAPI
import CaptureServer
import CaptureWorker
import CommandSupport
import Foundation

/// `replayhost-capture doctor`
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the tools, the folders and the queue.",
        discussion: """
            With --network, checks the running server instead: each of its URLs, its certificate and the clock.

            Example:
              replayhost-capture doctor
              replayhost-capture doctor --network
            """)

    @Option(name: .long, help: ArgumentHelp("The folder for saved files.", valueName: "folder"))
    var downloads: String?

    @Flag(name: .long, help: "Check the running server's URLs, certificate and clock, from this computer.")
    var network = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let toolbox = Toolbox(environment: environment)
        var checks: [Check]
        if network {
            checks = try await NetworkChecks(common: common, toolbox: toolbox).run()
        } else {
            checks = await toolChecks(toolbox)
            checks.append(isolationCheck(await .find(program: Terminal.executablePath, toolbox: toolbox)))
            checks += [folderCheck(environment), try queueCheck(), try serverCheck()]
        }
        for check in checks { check.write(asJSON: common.json) }
        if checks.contains(where: { $0.verdict == .bad }) { throw ExitStatus.failed }
    }

    private func toolChecks(_ toolbox: Toolbox) async -> [Check] {
        var checks: [Check] = []
        for tool in await toolbox.descriptions() {
            let known = Toolbox.Tool(rawValue: tool.name)
            let use = known?.isOnlyFor
            guard let path = tool.path, let version = tool.version else {
                let what = tool.path == nil ? "not installed" : "doesn't start"
                checks.append(
                    Check(
                        name: tool.name, verdict: use == nil ? .bad : .warning,
                        what: use.map { "\(what); \($0)" } ?? what, hint: known?.remedy))
                continue
            }
            var check = Check(name: tool.name, verdict: .good, what: "\(version), \(path)")
            if tool.name == Toolbox.Tool.chromium.rawValue, Toolbox.isSnap(path) {
                check = Check(
                    name: tool.name, verdict: .warning, what: "\(path) is a snap, which can't save pages",
                    hint: "install another Chromium, and set CHROMIUM=PATH")
            }
            if tool.name == Toolbox.Tool.ytdlp.rawValue, let age = toolbox.days(withoutUpdateOf: version) {
                check = Check(
                    name: tool.name, verdict: .warning,
                    what: "\(version), \(age) days old; it may fail on sites that have changed",
                    hint: "run `replayhost-capture tools update`")
            }
            checks.append(check)
        }
        return checks
    }

    private func isolationCheck(_ isolation: Isolation) -> Check {
        guard let reason = isolation.reason else {
            return Check(name: "isolation", verdict: .good, what: "the tools are confined")
        }
        return Check(
            name: "isolation", verdict: .warning, what: "\(Isolation.lack) (\(reason))",
            hint: Isolation.remedy)
    }

    private func folderCheck(_ environment: [String: String]) -> Check {
        let configured = ConfigCommand.file(nil, common).read().configuration?.downloads.rootDirectory
        let folder = downloads ?? configured ?? (environment["HOME"] ?? "") + "/Downloads/VidSaver"
        let existing = CaptureLayout.existing(folder)
        guard access(existing, W_OK) == 0 else {
            return Check(
                name: "files", verdict: .bad, what: "\(folder) can't be written",
                hint: "check who owns it, or choose another folder with --downloads")
        }
        let free = (try? Folder.freeBytes(at: existing)).map { ", \(Terminal.size($0)) free" } ?? ""
        return Check(name: "files", verdict: .good, what: folder + free)
    }

    private func queueCheck() throws -> Check {
        let layout = StoreLayout(root: common.location.path)
        guard let reader = try QueueReader(layout: layout) else {
            return Check(name: "queue", verdict: .good, what: "\(layout.captureDatabase), not created yet")
        }
        let lines = try reader.integrityCheck()
        guard lines == ["ok"] else {
            return Check(
                name: "queue", verdict: .bad, what: lines.joined(separator: "; "),
                hint: "restore \(layout.captureDatabase) from a backup, or move it away to begin with an empty queue")
        }
        return Check(name: "queue", verdict: .good, what: "\(layout.captureDatabase), no errors found")
    }

    private func serverCheck() throws -> Check {
        let layout = StoreLayout(root: common.location.path)
        guard let running = try RunningServer(at: layout.captureServerFile) else {
            return Check(name: "server", verdict: .good, what: "not running")
        }
        return Check(name: "server", verdict: .good, what: "\(running.server.address), process \(running.server.pid)")
    }
}
