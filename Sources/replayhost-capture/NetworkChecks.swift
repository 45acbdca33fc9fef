import ArchiveStore
import CaptureAPI
import CaptureServer
import CaptureWorker
import CommandSupport
import Foundation

/// Whether other computers can reach the running server: its addresses, names, certificate, and this computer's clock.
struct NetworkChecks {
    let common: CommonOptions
    let toolbox: Toolbox

    func run() async throws -> [Check] {
        guard let client = try CaptureClient(common) else {
            return [
                Check(
                    name: "network", verdict: .bad, what: "the capture server isn't running",
                    hint: "start it with `replayhost-capture serve`")
            ]
        }
        let state = try client.call(AdministratorState.self, "GET", "/admin/state", isAdministrator: true)
        guard state.open else {
            return [
                Check(
                    name: "network", verdict: .warning, what: "other devices can't connect yet",
                    hint: "run `replayhost-capture setup --name \"Ana's phone\"`")
            ]
        }
        var checks = state.addresses.isEmpty ? [Self.noNetwork] : []
        for address in state.addresses { checks.append(try await reach(address)) }
        if let host = Self.localName, let address = state.addresses.last(where: { $0.hasPrefix("https:") }) {
            let port = address.split(separator: ":").last.map(String.init) ?? ""
            checks.append(try await reach("https://\(host):\(port)"))
        }
        checks += state.problems.filter(Self.isAboutNetwork).map {
            Check(name: "network", verdict: .bad, what: $0.what, hint: $0.repair)
        }
        return checks + [await clockCheck()]
    }

    private static let noNetwork = Check(
        name: "network", verdict: .bad, what: "this computer isn't connected to a network", hint: "connect it")

    private static func isAboutNetwork(_ problem: AdministratorState.Problem) -> Bool {
        ["server.", "certificate", "listen", "port"].contains { problem.what.contains($0) }
    }

    /// The name of this computer for devices in the same network (RFC 6762 §3).
    private static var localName: String? { OwnAddresses.current().names.first { $0.hasSuffix(".local") } }

    /// Requests the server at an address, as a device does that trusts its certificate.
    private func reach(_ address: String) async throws -> Check {
        guard let curl = toolbox.path(of: .curl) else {
            return Check(
                name: "network", verdict: .warning, what: "\(address): curl, which tries it, isn't installed",
                hint: Toolbox.Tool.curl.remedy)
        }
        let layout = CaptureLayout(store: StoreLayout(root: common.location.path), downloads: "")
        let root = layout.certificates + "/root.crt"
        let ownFiles = ConfigCommand.file(nil, common).read().configuration?.server.ssl.certificateFile
        let trust = address.hasPrefix("https:") && ownFiles == nil && Folder.isFile(root) ? ["--cacert", root] : []
        do {
            _ = try await ProgramOutput.of(
                curl,
                ["--silent", "--show-error", "--fail", "--noproxy", "*", "--max-time", "60", "--output", "/dev/null"]
                    + trust + ["\(address)/health"])
        } catch let error as StoreError {
            // The IP address works without the name.
            let isName = error.what.contains("resolve host")
            return Check(
                name: "network", verdict: isName ? .warning : .bad, what: "\(address): \(error.what)",
                hint: Self.hint(error.what))
        }
        return Check(
            name: "network", verdict: .good, what: "\(address) answers this computer",
            hint: "if a phone can't reach it, let its TCP port through the firewall")
    }

    private static func hint(_ message: String) -> String {
        if message.contains("resolve host") {
            return "use the IP address, or install avahi-daemon so that the name is known in your network"
        }
        if message.contains("certificate") { return "see docs/certificates.md, and check this computer's date" }
        return "see the server's log: `replayhost-capture admin` opens the page that shows it"
    }

    /// A wrong clock makes certificates invalid.
    private func clockCheck() async -> Check {
        let path = "/usr/bin/timedatectl"
        let now = Date().formatted(Date.ISO8601FormatStyle(timeZone: .current))
        let output =
            Folder.exists(path) ? try? await ProgramOutput.of(path, ["show", "-p", "NTPSynchronized", "--value"]) : nil
        switch output?.trimmingCharacters(in: .whitespacesAndNewlines) {
        case "yes": return Check(name: "clock", verdict: .good, what: "\(now), synchronized")
        case "no":
            return Check(
                name: "clock", verdict: .warning, what: "\(now), not synchronized",
                hint: "check the date: with a wrong one, devices refuse the certificate (`timedatectl set-ntp true`)")
        default: return Check(name: "clock", verdict: .good, what: "\(now); compare it with your phone")
        }
    }
}
