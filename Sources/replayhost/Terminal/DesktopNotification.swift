import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Words for somebody who started the program from the desktop and has no terminal to read.
enum DesktopNotice {
    /// Shows an error where standard error is no terminal and there is a display; where `notify-send` is not there, nobody hears.
    static func show(_ fault: Fault) {
        let environment = ProcessInfo.processInfo.environment
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
        guard hasDisplay, isatty(STDERR_FILENO) == 0 else { return }
        let what = [fault.what, fault.place].compactMap { $0 }.joined(separator: ", ")
        let words = [what, fault.hint].compactMap { $0 }.map(body).joined(separator: "\n")
        // It is the last thing that is tried: the error itself was written already.
        _ = try? BackgroundProgram(
            "notify-send", ["--app-name=replayhost", "--icon=replayhost", "--", "replayhost", words])
    }

    /// Text as the body of a notice, which may hold markup. Desktop Notifications Specification 1.2, "Markup".
    private static func body(_ text: String) -> String {
        Terminal.safe(text).replacingOccurrences(of: "&", with: "&amp;")
            .replacingOccurrences(of: "<", with: "&lt;").replacingOccurrences(of: ">", with: "&gt;")
    }
}
