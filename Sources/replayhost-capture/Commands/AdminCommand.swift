import ArgumentParser
import CaptureAPI
import CommandSupport

/// `replayhost-capture admin`
struct AdminCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin",
        abstract: "Print a link that opens the administrator's page in a browser on this computer.",
        discussion: """
            The page shows what is wrong, connects devices, pauses the queue, updates the tools, and changes keys, cookies and the \
            configuration. The link works once, within ten minutes. You stay signed in, in that tab, for twelve hours or until the server stops.

            Example:
              replayhost-capture admin
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let link = try CaptureClient.running(common).call(
            AdministratorLink.self, "POST", "/admin/link", isAdministrator: true)
        if common.json { return Terminal.writeJSON(link) }
        Terminal.write(link.link)
    }
}
