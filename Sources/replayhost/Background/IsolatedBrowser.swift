import ArchiveStore
import CommandSupport
import Foundation

/// An installed browser that runs with a temporary profile and can reach only one server (docs/isolated.md).
struct IsolatedBrowser: Equatable {
    enum Kind: CaseIterable {
        case chromium
        case firefox

        /// The environment variable that sets the program.
        var variable: String {
            switch self {
            case .chromium: "CHROMIUM"
            case .firefox: "FIREFOX"
            }
        }

        var programs: [String] {
            switch self {
            case .chromium:
                [
                    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
                    "/Applications/Chromium.app/Contents/MacOS/Chromium",
                    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
                ]
            case .firefox: ["firefox-esr", "firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"]
            }
        }
    }

    let kind: Kind
    /// The absolute path.
    let program: String

    private static let secondsToEnd: Double = 10
    private static let logName = "replayhost-browser.log"

    // Finding a browser

    /// Finds the browser set in the environment, or an installed one, Chromium before Firefox.
    ///
    /// As root, Chromium runs only with `--no-sandbox`, which would let an exploit run as root. So root gets Chromium only if
    /// `CHROMIUM` is set, for example to a script that changes the user.
    ///
    /// - Throws: `StoreError` `failed` with a hint what to install.
    static func find(_ environment: [String: String], isRoot: Bool = geteuid() == 0) throws -> IsolatedBrowser {
        for kind in Kind.allCases {
            guard let named = environment[kind.variable], !named.isEmpty else { continue }
            if let path = path(of: named, environment) { return IsolatedBrowser(kind: kind, program: path) }
            throw StoreError(
                .failed, "\(kind.variable) is set to \"\(named)\", which isn't a program",
                hint: "set \(kind.variable) to the path of a browser, or unset it")
        }
        let installed = Kind.allCases.flatMap { kind in
            kind.programs.compactMap { path(of: $0, environment) }.map { IsolatedBrowser(kind: kind, program: $0) }
        }
        let usable = installed.filter { !isSnap($0.program) }
        if let browser = usable.first(where: { !isRoot || $0.kind == .firefox }) { return browser }
        if !usable.isEmpty {
            throw StoreError(
                .failed, "Chromium can't run as root, because its sandbox doesn't work for root",
                hint: "run this command as a regular user, or install Firefox (on Debian: firefox-esr)")
        }
        if let snap = installed.first {
            throw StoreError(
                .failed, "the browser is a snap, which can't use a temporary profile", place: snap.program,
                hint: "install Chromium or Firefox without snap, and set CHROMIUM or FIREFOX to its path")
        }
        throw StoreError(
            .failed, "--isolated needs Chromium or Firefox, and neither is installed",
            hint: "install one (on Debian: chromium or firefox-esr), or set CHROMIUM or FIREFOX to its path")
    }

    private static func path(of program: String, _ environment: [String: String]) -> String? {
        let current = FileManager.default.currentDirectoryPath
        let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let paths = program.contains("/") ? [program] : folders.map { "\($0)/\(program)" }
        return paths.map { StoreLocation.absolute($0, in: current) }.first {
            !Folder.isFolder($0) && FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    /// Whether a program is a snap, or a script that starts one, as on Ubuntu. Snaps have a separate `/tmp`.
    private static func isSnap(_ program: String) -> Bool {
        let target = URL(fileURLWithPath: program).resolvingSymlinksInPath().path
        if target.hasPrefix("/snap/") || target.hasSuffix("/snap") { return true }
        guard let file = FileHandle(forReadingAtPath: target), let start = try? file.read(upToCount: 4096) else {
            return false
        }
        return start.starts(with: Array("#!".utf8)) && String(decoding: start, as: UTF8.self).contains("/snap/bin/")
    }

    // Running the browser

    /// Shows a page until the browser is closed, then deletes the profile.
    ///
    /// - Throws: `StoreError` when the browser fails; `ExitStatus.interrupted` after Ctrl-C, when the browser has ended.
    func show(_ url: String, hosts: ReachableHosts, _ interrupts: Interrupts) throws {
        TemporaryProfile.removeLeftovers()
        let profile = try TemporaryProfile()
        let outcome = Result { try run(url, hosts, in: profile, interrupts) }
        do {
            try profile.remove()
        } catch {
            Terminal.writeError(
                "can't delete the temporary profile \(profile.path) (\(error.localizedDescription)); "
                    + "the next run with --isolated tries again", label: .warning)
        }
        try outcome.get()
    }

    private func run(
        _ url: String, _ hosts: ReachableHosts, in profile: TemporaryProfile, _ interrupts: Interrupts
    ) throws {
        let launch = launch(url, hosts, profile: profile.path)
        for (name, text) in launch.files { try profile.write(text, to: name) }
        let log = try Descriptor(path: "\(profile.path)/\(Self.logName)", flags: O_RDWR | O_CREAT | O_APPEND)
        let variables = launch.environment.map { "\($0)=\($1)" }
        let browser = try BackgroundProcess(
            "/usr/bin/env", variables + [program] + launch.arguments, output: log.number, inherited: profile.lock)
        defer { browser.end(within: Self.secondsToEnd) }
        while true {
            if let code = browser.exitCode() { return try check(code, log) }
            if interrupts.wereReceived { throw ExitStatus.interrupted }
            usleep(50_000)
        }
    }

    private func launch(_ url: String, _ hosts: ReachableHosts, profile: String) -> IsolatedLaunch {
        switch kind {
        case .chromium: .chromium(profile: profile, url: url, hosts: hosts)
        case .firefox: .firefox(profile: profile, url: url, hosts: hosts)
        }
    }

    /// - Throws: `StoreError` with the browser's last line of output, unless the exit code is 0.
    private func check(_ code: Int32, _ log: Descriptor) throws {
        guard code != 0 else { return }
        var bytes = Data(count: 65_536)
        let count = try bytes.withUnsafeMutableBytes { try log.read(at: 0, into: $0) }
        let last = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").last
        let environment = ProcessInfo.processInfo.environment
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
        throw StoreError(
            .failed, "\(program) failed with exit code \(code): \(last ?? "no output")",
            hint: hasDisplay ? nil : "run this command on a desktop; no display was found (DISPLAY isn't set)")
    }
}
