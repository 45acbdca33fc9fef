import ArchiveStore
import ArgumentParser
import CaptureAPI
import CaptureServer
import CommandSupport
import Foundation

/// `replayhost-capture setup`
struct SetupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Connect a phone, or another device on your network.",
        discussion: """
            Makes a key for the device, and shows two QR codes: one for apps, one for the device's camera. The first time, it asks \
            whether devices on your network may connect at all. docs/network.md has the steps on the device.

            Example:
              replayhost-capture setup --name "Ana's phone" --user ana
            """)

    @Option(name: .long, help: ArgumentHelp("What you call the device.", valueName: "text"))
    var name: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The user whose downloads the device adds and sees (default: sees all; each request can name a user).",
            valueName: "name"))
    var user: String?

    @Flag(name: .customLong("admin"), help: "Also let the device change keys and the configuration, over https.")
    var isAdministrator = false

    @Option(
        name: .long,
        help: ArgumentHelp("Also write the codes as images: FILE, and one whose name ends in -link.", valueName: "file")
    )
    var png: String?

    @Flag(name: [.customShort("y"), .long], help: "Don't ask; let devices on your network connect.")
    var yes = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let store = try common.openStore(repairing: false)
        let layout = CaptureLayout(store: store.layout, downloads: "")
        try layout.makeFolders()
        let configuration = try openNetwork()
        let connection = try await connection(configuration, layout)
        let made = try await APIKeys.use(common) {
            try $0.add(name, user: user, isAdministrator: isAdministrator)
        }
        guard let payload = QRPayload(connection, key: made.text) else { throw Self.noNetwork }
        if let png { try write(payload, png) }
        if common.json {
            return Terminal.writeJSON(SetupAnswer(made.key, secret: made.text, payload))
        }
        try show(payload, connection, made.key)
    }

    private static let noNetwork = CommandError(
        .failed, code: "no-network", "this computer isn't in a network", hint: "connect it, then try again")

    /// Changes the configuration so that devices can connect, if they can't yet.
    private func openNetwork() throws -> CaptureConfiguration {
        let file = ConfigCommand.file(nil, common)
        let stamp = file.stamp
        let configuration = try ConfigCommand.read(file)
        guard configuration.server.isLoopback else { return configuration }
        guard try yes || confirms() else {
            Terminal.writeError("Nothing was changed.")
            throw ExitStatus.failed
        }
        let text = OpenedConfiguration.text(from: String(decoding: try file.text() ?? [], as: UTF8.self))
        let reading = text.map { file.check($0.utf8) }
        guard let text, let opened = reading?.configuration, !opened.server.isLoopback, opened.server.ssl.isEnabled
        else {
            throw CommandError(
                .failed, code: "cant-change-configuration", "the configuration can't be changed automatically",
                place: file.path,
                hint: "set server.host to 0.0.0.0 and server.ssl.enabled to true with `replayhost-capture config edit`")
        }
        let values = try file.write(Array(text.utf8), replacing: stamp)
        common.note("Devices on your network can connect with a key. To undo: `replayhost-capture config restore`.")
        return values
    }

    private func confirms() throws -> Bool {
        Terminal.writeError(
            "So far, only programs on this computer can connect to the server. Without a key, other devices can't see or save "
                + "anything. They connect by https; old apps can use http, which isn't encrypted.")
        guard
            let answer = Terminal.answer(
                to: "Let devices on your network connect, each with a key? [y/N]")
        else {
            throw CommandError(
                .failed, code: "no-confirmation", "can't ask for confirmation here", hint: "add --yes to allow it")
        }
        return ["y", "yes"].contains(answer.lowercased())
    }

    /// Returns how devices connect: as the running server says when it has taken over the configuration, else as a server
    /// would say.
    private func connection(
        _ configuration: CaptureConfiguration, _ layout: CaptureLayout
    ) async throws -> ConnectionInfo {
        let end = ContinuousClock.now + Self.takeOverMax
        while let client = try CaptureClient(common) {
            let info = try client.call(ConnectionInfo.self, "GET", "/config/connection")
            let ssl = configuration.server.ssl
            // The server makes its certificate after it has taken over the configuration.
            let hasCertificate = !ssl.isEnabled || ssl.certificateFile != nil || info.fingerprint != nil
            if info.lan.available, info.sslEnabled == ssl.isEnabled, hasCertificate { return info }
            guard ContinuousClock.now < end else { throw Self.noNetwork }
            try await Task.sleep(for: .milliseconds(200))
        }
        return await ServerNetwork.connection(configuration, certificatesIn: layout.certificates)
    }

    private static let takeOverMax = Duration.seconds(30)

    private func write(_ payload: QRPayload, _ path: String) throws {
        let name = (path as NSString).deletingPathExtension
        for (text, path) in [(payload.text, path), (payload.link, "\(name)-link.png")] {
            try Data(QRCode(text).png()).write(to: URL(fileURLWithPath: path), options: .atomic)
            // The image contains the key.
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            common.note("Wrote \(path).")
        }
    }

    private func show(_ payload: QRPayload, _ connection: ConnectionInfo, _ key: KeyDescription) throws {
        let isColoured = isatty(STDOUT_FILENO) == 1
        let place = connection.lan.url ?? ""
        Terminal.write("For apps that scan the code of a Video Download Server:")
        Terminal.writeColoured(try QRCode(payload.text).terminalText(isColoured: isColoured))
        Terminal.write("For the device's camera:")
        Terminal.writeColoured(try QRCode(payload.link).terminalText(isColoured: isColoured))
        Terminal.writeRow("URL:     \(place)")
        Terminal.writeRow("Key:     \(payload.key ?? "")")
        if let fingerprint = payload.fp {
            Terminal.write("Certificate (SHA-256): \(fingerprint)")
        }
        let trust =
            payload.fp == nil
            ? []
            : [
                "Open \(place)/server.crt on the device. The browser warns: continue, and install the certificate "
                    + "(docs/certificates.md)."
            ]
        let steps =
            trust + [
                "Point the device's camera at the code for it, and open the link.",
                "To share from other apps, see docs/network.md.",
            ]
        Terminal.write("")
        for (number, step) in steps.enumerated() { Terminal.write("\(number + 1). \(step)") }
        if try CaptureClient(common) == nil {
            Terminal.write("The server doesn't run: start it with `replayhost-capture serve`.")
        }
        Terminal.write(
            "Nothing shows the key again. To end it: replayhost-capture keys revoke \(key.id)")
    }
}
