import ArgumentParser
import CaptureAPI
import Foundation
import ShareKit

/// `replayhost-share connect`
struct ConnectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Connect to a server, with the code that it shows.",
        discussion: """
            The code is the text of a QR code of `replayhost-capture setup`, its link, or the output of `setup --json`. It has \
            the key of this computer: on standard input or in a file, other users of this computer don't see it.

            Example:
              replayhost-share connect code.json
            """)

    @Argument(
        help: ArgumentHelp("The code, or a file with it; without one, standard input is read.", valueName: "code"))
    var code: String?

    @Option(name: .long, help: ArgumentHelp("What you call the server.", valueName: "text"))
    var name: String?

    @OptionGroup var common: DeviceOptions

    func run() async throws {
        let device = try common.device()
        var code = try ConnectionCode(try text())
        var problem: ShareError?
        let client = ShareClient(profile: code.profile, key: code.key, transport: device.transport)
        do throws(ShareError) {
            let connection = try await client.connection()
            code.profile.name = connection.serverName
        } catch {
            // A server that can't be reached now can still be the right one.
            guard [.unreachable, .timedOut].contains(error.code) else { throw error }
            problem = error
        }
        if let name { code.profile.name = name }
        let profile = try device.folder.changeSettings { $0.connect(code) }
        try device.secrets.set(code.key, for: profile.id)
        if let problem {
            common.tell(profile, "The code of \(profile.baseURL) is kept, but the server can't be reached now.")
            Output.report(problem, asJSON: common.json)
            throw ExitStatus.keptForLater
        }
        common.tell(profile, "Connected to \(profile.name) at \(profile.baseURL).")
        guard try await device.queue.retry() > 0 else { return }
        let result = try await device.send()
        try await PendingCommand.summarize(device, common, result.reason)
    }

    private func text() throws -> String {
        let given: Data
        if let code, code.hasPrefix("{") || code.contains("#connect=") {
            given = Data(code.utf8)
        } else if let code, code != "-" {
            guard let file = FileHandle(forReadingAtPath: code) else {
                throw ValidationError("\"\(code)\" is neither a code nor a file that can be read")
            }
            given = try Input.all(of: file)
        } else {
            guard let input = try Input.standard() else { throw ValidationError("give a code, or a file with it") }
            given = input
        }
        struct Setup: Decodable {
            var payload: String
        }
        if let setup = try? JSONDecoder().decode(Setup.self, from: given) { return setup.payload }
        return String(decoding: given, as: UTF8.self)
    }
}
