import ArchiveStore
import CaptureAPI
import Foundation
import Subprocess
import Synchronization

/// The state of a worker: its order, its folder, its log, and what it reports to the server.
final class WorkerSession: Sendable {
    let order: JobOrder
    /// The session folder, absolute.
    let folder: String
    let log: AttemptLog
    let redaction: Redaction
    /// The URL of the proxy that leads to the guard.
    let proxy: String
    let egress: EgressRecord
    let memory: MemoryWatch
    private let emit: @Sendable (WorkerMessage) -> Void

    private struct Reported {
        var message = WorkerMessage()
        var at = ContinuousClock.now - .seconds(1)
        /// The size of the session folder's files.
        var size: UInt64 = 0
    }
    private let reported = Mutex(Reported())

    /// - Parameter proxyPort: The port of this computer that leads to the guard.
    init(
        order: JobOrder, folder: String, proxyPort: Int, emit: @escaping @Sendable (WorkerMessage) -> Void
    ) throws {
        (self.order, self.folder, self.emit) = (order, folder, emit)
        memory = MemoryWatch(order.limits)
        proxy = "http://127.0.0.1:\(proxyPort)"
        egress = EgressRecord(path: "\(folder)/\(SessionFile.egressRecord)")
        let cookies =
            order.hasCookies ? try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(SessionFile.cookies)")) : Data()
        redaction = Redaction(cookies: String(decoding: cookies, as: UTF8.self))
        log = try AttemptLog(path: "\(folder)/\(SessionFile.log)", redaction: redaction)
        for place in [output, parts] { try Folder.create(place) }
    }

    var output: String { "\(folder)/\(SessionFile.output)" }
    var parts: String { "\(folder)/\(SessionFile.parts)" }

    /// Reports progress, at most four times a second unless the stage or the title changes; or the result.
    func report(_ message: WorkerMessage) {
        let isNews: Bool = reported.withLock { reported in
            let changes =
                message.stage.map { $0 != reported.message.stage } == true
                || message.title.map { $0 != reported.message.title } == true || message.genre != nil
                || message.result != nil
            guard changes || reported.at.duration(to: .now) > .milliseconds(250) else { return false }
            reported.at = .now
            reported.message.stage = message.stage ?? reported.message.stage
            reported.message.title = message.title ?? reported.message.title
            return true
        }
        if isNews { emit(message) }
    }

    /// Runs a tool. As long as its files grow, the server hears of it. What the guard refused is in the log then.
    ///
    /// - Parameter progress: Called twice a second, for tools that don't print their progress; throws to end the tool.
    func run(
        _ program: String, _ arguments: [String], onLine: @escaping @Sendable (ToolRun.Stream, String) throws -> Void,
        progress: @escaping @Sendable () throws -> DownloadProgress? = { nil }
    ) async throws -> ToolRun.End {
        let run = ToolRun(program: program, arguments: arguments, folder: folder, environment: toolEnvironment)
        let before = egress.events.count
        defer {
            for event in egress.events.dropFirst(before) {
                if let failure = event.failure { log.add("refused: \(failure.message)") }
            }
        }
        do {
            return try await run.run(
                onLine: { [self] stream, line in
                    try onLine(stream, line)
                    report(WorkerMessage())
                },
                onTick: { [self] in
                    if let progress = try progress() { report(WorkerMessage(stage: .fetching, progress: progress)) }
                    reportGrowth()
                })
        } catch let error as SubprocessError {
            log.add("\(program) can't be started: \(error)")
            throw ToolFailure(.toolMissing, "\((program as NSString).lastPathComponent) can't be started")
        }
    }

    private func reportGrowth() {
        let size = [output, parts].reduce(UInt64(0)) { $0 + Self.size(of: $1) }
        let hasGrown = reported.withLock { reported in
            defer { reported.size = size }
            return size != reported.size
        }
        if hasGrown { report(WorkerMessage()) }
    }

    private static func size(of folder: String) -> UInt64 {
        ((try? Folder.names(in: folder)) ?? []).reduce(0) { $0 + (Folder.fileSize("\(folder)/\($1)") ?? 0) }
    }

    /// What tools see of this program's environment.
    var toolEnvironment: [String: String] {
        let own = ProcessInfo.processInfo.environment.filter { ["SSL_CERT_FILE", "TZ"].contains($0.key) }
        // ffmpeg and deno know the proxy by these.
        let proxies = ["http_proxy", "https_proxy", "all_proxy"].flatMap { [($0, proxy), ($0.uppercased(), proxy)] }
        return own.merging(proxies) { $1 }.merging([
            "PATH": order.tools.path, "HOME": folder, "TMPDIR": parts, "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1",
            "\(WorkerProcess.mark)": folder,
        ]) { $1 }
    }
}
