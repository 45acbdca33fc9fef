import ArchiveStore
import CaptureAPI
import CaptureWorker
import Foundation
import HTTPTypes
import Hummingbird
import ReplayServer

/// What the administrator's page shows and does.
struct AdministratorRoutes: Sendable {
    let service: CaptureService

    /// `POST /admin/link`: a link that opens the administrator's page once.
    func link(_ call: CaptureRoutes.Call) async throws -> Response {
        let (code, end) = service.sessions.makeCode()
        let link = AdministratorLink(link: "\(service.address)/admin#code=\(code)", expiresAt: QueueTime.text(end))
        return try JSONAnswer.response(link, status: .created)
    }

    /// `POST /admin/session`: exchanges the code of a link for a session's token.
    func session(_ call: CaptureRoutes.Call) async throws -> Response {
        struct Body: Decodable {
            let code: String
        }
        guard call.caller.isLocal else {
            throw RequestFailure(
                .unauthorized, "unauthorized",
                "a link works only on the computer that runs the server; use an administrator's key here",
                fields: [.wwwAuthenticate: "Bearer"])
        }
        let body = try await DownloadRoutes.decoded(Body.self, call.request)
        guard let (token, end) = service.sessions.open(body.code) else {
            throw RequestFailure(
                .unauthorized, "unauthorized", "this link was used or has expired; make a new one",
                fields: [.wwwAuthenticate: "Bearer"])
        }
        return try JSONAnswer.response(AdministratorSession(token: token, expiresAt: QueueTime.text(end)))
    }

    /// `GET /admin/state`
    func state(_ call: CaptureRoutes.Call) async throws -> Response {
        let (addresses, listening) = await service.reachability
        let queue = try await HealthRoute(service: service).counts().queue
        let disks = try await BlockingWork().long { [service] in try Self.disks(service.layout) }
        let isolation = CaptureHealth.Isolation(reason: service.settings.isolation.reason)
        let tools = service.toolVersions.current()
        let problems =
            listening.map { AdministratorState.Problem($0) } + configurationProblems() + problems(of: tools)
            + problems(of: disks, isolation)
        let state = AdministratorState(
            software: service.settings.software, startedAt: service.network.startedAt, problems: problems,
            addresses: addresses, open: !service.network.configuration.server.isLoopback,
            queue: .init(queue, paused: service.runner.isPaused), disks: disks, tools: tools,
            update: service.toolUpdates.current, isolation: isolation)
        return try JSONAnswer.response(state)
    }

    private func configurationProblems() -> [AdministratorState.Problem] {
        let faults = service.updates?.faults ?? []
        return faults.map {
            .init(
                $0.text(file: "config.yaml"),
                repair: "Change it below. Until then, the last valid configuration stays in force.")
        }
    }

    private func problems(of tools: [ToolDescription]) -> [AdministratorState.Problem] {
        let missing = tools.filter { $0.path == nil }
        let needed = missing.filter { Toolbox.Tool(rawValue: $0.name)?.isOnlyFor == nil }.map(\.name)
        var problems: [AdministratorState.Problem] = []
        if !needed.isEmpty {
            let names = needed.joined(separator: ", ")
            problems.append(
                .init(
                    "Not installed: \(names); downloads that need them wait",
                    repair: "Run `replayhost-capture doctor`, which says how to install each."))
        }
        for tool in missing {
            guard let tool = Toolbox.Tool(rawValue: tool.name), let use = tool.isOnlyFor else { continue }
            problems.append(.init("Not installed: \(tool.rawValue); \(use)", repair: tool.remedy))
        }
        let version = tools.first { $0.name == Toolbox.Tool.ytdlp.rawValue }?.version
        if let age = version.flatMap({ service.toolbox.days(withoutUpdateOf: $0) }) {
            let what = "yt-dlp is \(age) days old; it may fail on sites that have changed"
            problems.append(.init(what, repair: "Update it below."))
        }
        return problems
    }

    private func problems(
        of disks: [AdministratorState.Disk], _ isolation: CaptureHealth.Isolation
    ) -> [AdministratorState.Problem] {
        let full = disks.filter { $0.free < service.settings.freeBytesMin }.map {
            AdministratorState.Problem(
                "The disk with \($0.path) is nearly full; downloads wait",
                repair: "Free up space on it. Remove archives in the library; don't delete files of the store yourself."
            )
        }
        let reason = isolation.reason.map {
            AdministratorState.Problem("\(Isolation.lack) (\($0))", repair: Isolation.remedy)
        }
        return full + [reason].compactMap { $0 }
    }

    private static func disks(_ layout: CaptureLayout) throws -> [AdministratorState.Disk] {
        try [("store", layout.store.root), ("downloads", layout.downloads)].map { what, path in
            let existing = CaptureLayout.existing(path)
            let size = try FileManager.default.attributesOfFileSystem(forPath: existing)[.systemSize] as? NSNumber
            return AdministratorState.Disk(
                what: what, path: path, free: try Folder.freeBytes(at: existing), total: size?.uint64Value ?? 0)
        }
    }

    /// `POST /queue/pause`: nothing new starts, also after a restart.
    func pause(_ call: CaptureRoutes.Call) async throws -> Response { try await setPaused(true, call) }

    /// `POST /queue/resume`
    func resume(_ call: CaptureRoutes.Call) async throws -> Response { try await setPaused(false, call) }

    private func setPaused(_ paused: Bool, _ call: CaptureRoutes.Call) async throws -> Response {
        try await BlockingWork().long { [runner = service.runner] in try runner.setPaused(paused) }
        return try JSONAnswer.response(QueueSwitch(paused: paused))
    }

    /// `POST /tools/update`
    func updateTools(_ call: CaptureRoutes.Call) async throws -> Response {
        struct Body: Decodable {
            let nightly: Bool?
        }
        let body = try await DownloadRoutes.decoded(Body.self, call.request)
        return try started(service.toolUpdates.start(nightly: body.nightly ?? false))
    }

    /// `POST /tools/rollback`
    func rollBackTools(_ call: CaptureRoutes.Call) async throws -> Response {
        return try started(service.toolUpdates.rollBack())
    }

    private func started(_ isStarted: Bool) throws -> Response {
        guard isStarted else { throw RequestFailure(.conflict, "conflict", "the tools are being updated already") }
        return try JSONAnswer.response(service.toolUpdates.current, status: .accepted)
    }

    /// `GET /server/log`
    func log(_ call: CaptureRoutes.Call) async throws -> Response {
        let text = call.parameters["offset"]
        let offset = text.flatMap { UInt64($0) }
        guard text == nil || offset.map({ $0 <= UInt64(Int64.max) }) == true else {
            throw RequestFailure(invalid: [
                FieldProblem(["query", "offset"], "Input should be a valid integer, 0 or more")
            ])
        }
        let log = ServerLog(path: service.layout.serverLog)
        return try JSONAnswer.response(try await BlockingWork().long { try log.part(from: offset) })
    }
}
