import CommandSupport
import Foundation

/// Opens URLs in the user's browser.
enum Browser {
    struct LaunchError: Error {
        let reason: String
    }

    /// A command that runs longer than this is assumed to show the page.
    private static let secondsToFail: Double = 2

    /// Opens a URL in a browser. When that fails, prints the URL to open by hand.
    static func open(_ url: String) {
        do {
            try launch(url)
        } catch {
            Terminal.writeError("Couldn't start a browser (\(error.reason)). Open this address yourself: \(url)")
        }
    }

    /// Starts a browser and doesn't wait for it to close.
    private static func launch(_ url: String) throws(LaunchError) {
        let commands = try commands(ProcessInfo.processInfo.environment, url: url)
        var reasons: [String] = []
        for command in commands {
            guard let reason = failure(of: command) else { return }
            reasons.append(reason)
        }
        throw LaunchError(reason: reasons.joined(separator: ", "))
    }

    /// Returns the commands to try, in order: those of `BROWSER`, then the desktop's.
    ///
    /// `BROWSER` lists commands separated by colons. The URL replaces `%s`, or is added at the end.
    static func commands(_ environment: [String: String], url: String) throws(LaunchError) -> [[String]] {
        let chosen = (environment["BROWSER"] ?? "").split(separator: ":").compactMap { entry -> [String]? in
            let words = entry.split(separator: " ").map(String.init)
            guard !words.isEmpty else { return nil }
            let filled = words.map { $0.replacingOccurrences(of: "%s", with: url) }
            return filled == words ? words + [url] : filled
        }
        #if os(macOS)
        return chosen + [["/usr/bin/open", url]]
        #else
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
        guard !chosen.isEmpty || hasDisplay else {
            throw LaunchError(reason: "no display found and BROWSER isn't set")
        }
        return chosen + (hasDisplay ? [["xdg-open", url]] : [])
        #endif
    }

    /// Returns why a command failed; `nil` when it succeeded or keeps running.
    private static func failure(of command: [String]) -> String? {
        let program: BackgroundProcess
        do {
            program = try BackgroundProcess(command[0], Array(command.dropFirst()))
        } catch {
            return "\(error)"
        }
        let end = ContinuousClock.now + .seconds(secondsToFail)
        while ContinuousClock.now < end {
            if let code = program.exitCode() { return code == 0 ? nil : "\(command[0]) failed with exit code \(code)" }
            usleep(10_000)
        }
        return nil
    }
}
