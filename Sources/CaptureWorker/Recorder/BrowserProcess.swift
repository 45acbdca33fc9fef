import ArchiveStore
import Foundation
import Synchronization

/// A run of Chromium with a fresh profile, which is told what to do over two pipes.
///
/// It's in the process group of this program. It keeps its own sandbox: `--no-sandbox` is never passed.
final class BrowserProcess: Sendable {
    let connection: BrowserConnection
    private let id: pid_t
    private let profile: String
    private let log: AttemptLog
    private let errors: ErrorOutput

    /// What the browser can connect to.
    enum Way {
        /// The hosts that the guard lets through.
        case guarded
        /// A server on this port of this computer, and nothing else.
        case server(port: Int)
    }

    /// Runs Chromium for as long as the body uses it.
    ///
    /// - Throws: `ToolFailure`; `CancellationError`.
    static func run<Result>(
        _ session: WorkerSession, _ way: Way, _ body: (BrowserProcess) async throws -> Result
    ) async throws -> Result {
        guard let program = session.order.tools.chromium else {
            throw ToolFailure(.page, "this is a page, and Chromium isn't installed; \(Toolbox.Tool.chromium.remedy)")
        }
        guard !Toolbox.isSnap(program) else {
            throw ToolFailure(
                .page,
                "\(program) is a snap, which can't save pages; install another Chromium and name it with CHROMIUM")
        }
        let browser = try BrowserProcess(program: program, session: session, way)
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(browser))
        } catch let end as BrowserEnd {
            result = .failure(ToolFailure(.aborted, end.reason))
        } catch let refusal as BrowserRefusal {
            result = .failure(ToolFailure(.toolFailed, "Chromium: \(refusal.reason)"))
        } catch is DecodingError {
            result = .failure(ToolFailure(.toolFailed, "Chromium sent something of an unknown form"))
        } catch {
            result = .failure(error)
        }
        await browser.end()
        return try result.get()
    }

    /// Starts Chromium.
    ///
    /// - Throws: `ToolFailure` if it can't be started.
    private init(program: String, session: WorkerSession, _ way: Way) throws {
        log = session.log
        profile = "\(session.folder)/browser"
        if Folder.exists(profile) { try FileManager.default.removeItem(atPath: profile) }
        try Folder.create(profile)
        let network =
            switch way {
            case .guarded: Self.network(proxy: session.proxy)
            case .server(let port): Self.network(serverPort: port)
            }
        let arguments = Self.arguments(profile: profile) + network
        session.log.add("\(program) " + arguments.joined(separator: " "))
        let (commands, answers, messages) = (try Pipe(), try Pipe(), try Pipe())
        // Relative, to the session folder: Chromium makes a socket there, whose path must be shorter than 108 bytes.
        let environment = session.toolEnvironment.merging(["TMPDIR": SessionFile.parts]) { $1 }
        id = try Self.spawn(
            [program] + arguments, environment,
            descriptors: [(messages.output, 2), (commands.input, 3), (answers.output, 4)])
        errors = ErrorOutput(messages.input, log: session.log)
        connection = BrowserConnection(input: answers.input, output: commands.output)
    }

    /// Waits until the browser answers.
    ///
    /// - Throws: `ToolFailure` if it doesn't.
    func version() async throws -> Browser.Version {
        do {
            return try await connection.call("Browser.getVersion", as: Browser.Version.self)
        } catch let end as BrowserEnd {
            errors.waitForEnd()
            throw errors.hasNoSandbox
                ? Self.noSandbox : ToolFailure(.toolFailed, "Chromium can't be started: \(end.reason)")
        }
    }

    /// Pages can't be saved on this computer, whatever their URL.
    static let noSandbox = ToolFailure(
        .sandbox,
        "Chromium's sandbox doesn't work here; don't run the server as root, or \(Toolbox.Tool.bubblewrap.remedy)")

    /// Ends Chromium and deletes the profile.
    private func end() async {
        // So that its processes end in order; what is left of them ends with the pipe and the signal.
        _ = await Deadline.run(seconds: 3) { [connection] in
            try? await connection.call("Browser.close")
        }
        connection.end(BrowserEnd("the browser was closed"))
        kill(id, SIGKILL)
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        do {
            try FileManager.default.removeItem(atPath: profile)
        } catch {
            log.add("the browser's profile is deleted later: \(error.localizedDescription)")
        }
    }

    /// The guard is the only way out, also to this computer. It resolves names.
    private static func network(proxy: String) -> [String] {
        [
            "--proxy-server=\(proxy)", "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ]
    }

    /// Everything but the server goes to a proxy that isn't there.
    private static func network(serverPort: Int) -> [String] {
        [
            "--proxy-server=http://127.0.0.1:9",
            "--proxy-bypass-list=<-loopback>;localhost:\(serverPort);*.localhost:\(serverPort)",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE *.localhost",
        ]
    }

    private static func arguments(profile: String) -> [String] {
        [
            "--headless=new", "--remote-debugging-pipe", "--user-data-dir=\(profile)", "--no-startup-window",
            // No way around the proxy
            "--disable-quic", "--webrtc-ip-handling-policy=disable_non_proxied_udp",
            // For versions before 2025
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
            // What Chromium requests for itself
            "--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-sync",
            "--disable-component-update", "--disable-domain-reliability", "--disable-default-apps",
            "--disable-extensions", "--disable-component-extensions-with-background-pages", "--no-pings",
            "--disable-client-side-phishing-detection", "--disable-breakpad", "--disable-field-trial-config",
            "--disable-features=Translate,OptimizationHints,MediaRouter,AutofillServerCommunication,"
                + "DialMediaRouteProvider,NetworkTimeServiceQuerying,"
                // A URL is requested as it was pasted, not with https first.
                + "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
            // The guard refuses this port, if anything is left
            "--gaia-url=http://127.0.0.1:9", "--google-apis-url=http://127.0.0.1:9",
            "--component-updater=url-source=http://127.0.0.1:9/",
            // The same on every computer
            "--window-size=1920,1080", "--hide-scrollbars", "--mute-audio", "--lang=en-US", "--password-store=basic",
            "--use-mock-keychain", "--force-color-profile=srgb", "--disable-gpu",
            // Shared memory is in files in TMPDIR: /dev can't be written.
            "--disable-dev-shm-usage",
            // Pages aren't slowed down, although no one sees them
            "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
            "--disable-renderer-backgrounding",
        ]
    }

    private struct Pipe {
        let input: Descriptor
        let output: Descriptor

        init() throws {
            var numbers: [Int32] = [0, 0]
            guard pipe(&numbers) == 0 else { throw ToolFailure(.toolFailed, "no pipe can be made") }
            // Not 3 and 4 themselves, which the browser gets.
            let high = numbers.map { fcntl($0, F_DUPFD_CLOEXEC, 10) }
            for number in numbers { close(number) }
            guard high.allSatisfy({ $0 >= 0 }) else { throw ToolFailure(.toolFailed, "no pipe can be made") }
            input = Descriptor(owning: high[0], path: "pipe")
            output = Descriptor(owning: high[1], path: "pipe")
        }
    }

    private static func spawn(
        _ arguments: [String], _ environment: [String: String], descriptors: [(from: Descriptor, number: Int32)]
    ) throws -> pid_t {
        #if canImport(Glibc)
        var actions = posix_spawn_file_actions_t()
        #else
        var actions: posix_spawn_file_actions_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        for (from, number) in descriptors { posix_spawn_file_actions_adddup2(&actions, from.number, number) }
        let texts = arguments.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in texts + variables { free(text) } }
        var id: pid_t = 0
        let code = posix_spawn(&id, arguments[0], &actions, nil, texts, variables)
        guard code == 0 else {
            throw ToolFailure(.toolMissing, "Chromium can't be started (\(String(cString: strerror(code))))")
        }
        return id
    }
}

/// What Chromium writes to standard error: the start of it gets into the log.
private final class ErrorOutput: Sendable {
    private struct State {
        var lines = OutputLines()
        var logged = 0
        var hasNoSandbox = false
        var hasEnded = false
    }
    private let state = Mutex(State())
    private static let linesMax = 200

    init(_ input: Descriptor, log: AttemptLog) {
        Thread { [self] in
            while let bytes = Self.nextBytes(of: input), add(bytes, log) {}
            state.withLock { $0.hasEnded = true }
        }.start()
    }

    /// Chromium's own words. Source: `zygote_host_impl_linux.cc` and `content_main_runner_impl.cc`.
    private static let signs = ["No usable sandbox", "without --no-sandbox is not supported", "sandbox_host_linux.cc"]

    var hasNoSandbox: Bool { state.withLock { $0.hasNoSandbox } }

    /// Waits a moment until everything is read that an ended process wrote.
    func waitForEnd() {
        for _ in 0..<50 where !state.withLock({ $0.hasEnded }) { usleep(20_000) }
    }

    private static func nextBytes(of input: Descriptor) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(input.number, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            return count > 0 ? Array(bytes[..<count]) : nil
        }
    }

    /// - Returns: Whether to read on.
    private func add(_ bytes: [UInt8], _ log: AttemptLog) -> Bool {
        state.withLock { state in
            // What is more than the limit of a tool's output ends the pipe.
            guard let lines = bytes.withUnsafeBytes({ try? state.lines.add($0) }) else { return false }
            for line in lines {
                if Self.signs.contains(where: line.contains) { state.hasNoSandbox = true }
                // There is no desktop to talk to; and what an argument of ours causes, at each start.
                let noise = ["/dbus/", ":dbus/", "Ignoring port number in isolated origin"]
                guard !noise.contains(where: line.contains), state.logged < Self.linesMax else { continue }
                state.logged += 1
                log.add(line, from: "chromium")
            }
            return true
        }
    }
}
