import CommandSupport
import Foundation

/// Shows errors to people who started the program from the desktop.
enum DesktopNotification {
    /// Shows an error if there is a display and standard error isn't a terminal. Needs `notify-send`.
    static func show(_ failure: CommandError) {
        let environment = ProcessInfo.processInfo.environment
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
        guard hasDisplay, isatty(STDERR_FILENO) == 0 else { return }
        let text = [failure.message, failure.hint].compactMap { $0 }.map(escaped).joined(separator: "\n")
        // The error itself was already written to standard error.
        _ = try? BackgroundProcess(
            "notify-send", ["--app-name=replayhost", "--icon=replayhost", "--", "replayhost", text])
    }

    /// Escapes markup. Desktop Notifications Specification 1.2, "Markup".
    private static func escaped(_ text: String) -> String {
        Terminal.safe(text).replacingOccurrences(of: "&", with: "&amp;")
            .replacingOccurrences(of: "<", with: "&lt;").replacingOccurrences(of: ">", with: "&gt;")
    }
}
