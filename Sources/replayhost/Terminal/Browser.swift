import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The person's browser.
enum Browser {
    /// Why none could be asked.
    struct Absent: Error {
        let reason: String
    }

    /// How long a browser, or what passes the address on to one, has to fail; one that goes on longer shows the page.
    private static let secondsToFail: Double = 2

    /// Asks a browser to open an address; says the address when there is none.
    static func open(_ address: String) {
        do {
            try show(address)
        } catch {
            Terminal.writeError("no browser could be started (\(error.reason)); open \(address)")
        }
    }

    /// Asks a browser to open an address, and does not wait for it to be closed.
    ///
    /// - Throws: `Absent` when none can be asked, or those that were said that they cannot.
    static func show(_ address: String) throws(Absent) {
        let commands = try commands(ProcessInfo.processInfo.environment, address: address)
        var reasons: [String] = []
        for command in commands {
            guard let reason = failure(of: command) else { return }
            reasons.append(reason)
        }
        throw Absent(reason: reasons.joined(separator: ", "))
    }

    /// What to try, in order: `BROWSER` is a list of commands, separated by colons, with `%s` where the address belongs or the
    /// address behind them; else the desktop knows.
    static func commands(_ environment: [String: String], address: String) throws(Absent) -> [[String]] {
        let chosen = (environment["BROWSER"] ?? "").split(separator: ":").compactMap { entry -> [String]? in
            let words = entry.split(separator: " ").map(String.init)
            guard !words.isEmpty else { return nil }
            let filled = words.map { $0.replacingOccurrences(of: "%s", with: address) }
            return filled == words ? words + [address] : filled
        }
        #if os(macOS)
        return chosen + [["/usr/bin/open", address]]
        #else
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
        guard !chosen.isEmpty || hasDisplay else {
            throw Absent(reason: "there is no display, and BROWSER is not set")
        }
        return chosen + (hasDisplay ? [["xdg-open", address]] : [])
        #endif
    }

    /// Why a command cannot show it; `nil` when it did, or does as long as it runs.
    private static func failure(of command: [String]) -> String? {
        let program: BackgroundProgram
        do {
            program = try BackgroundProgram(command[0], Array(command.dropFirst()))
        } catch {
            return "\(error)"
        }
        let end = ContinuousClock.now + .seconds(secondsToFail)
        while ContinuousClock.now < end {
            if let code = program.exitCode() { return code == 0 ? nil : "\(command[0]) failed with \(code)" }
            usleep(10_000)
        }
        return nil
    }
}
