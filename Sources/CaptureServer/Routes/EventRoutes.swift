import CaptureAPI
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ReplayServer

/// `GET /events`: changes of downloads, of the queue, and of how clients connect, as server-sent events.
struct EventRoutes: Sendable {
    let service: CaptureService

    func stream(_ call: CaptureRoutes.Call) async throws -> Response {
        let start = try Self.revision(in: call)
        let owner = "\(call.caller.limitID) \(call.caller.user?.text ?? "")"
        guard let listener = service.queue.database.changes.listen(by: owner, ownerMax: Self.listenersMax) else {
            throw RequestFailure(
                .serviceUnavailable, "busy", "too many event streams are open; close another one first",
                fields: [.retryAfter: "30"])
        }
        let presence = call.context.watchClient()
        presence.onEnd { [weak listener] in listener?.end() }
        let previews = service.runner.previews.listen(as: call.caller.limitID)
        let (caller, isStillAdmitted) = (call.caller, call.isStillAdmitted)
        let body = ResponseBody { [service] writer in
            defer { withExtendedLifetime((listener, previews)) {} }
            try await writer.write(ByteBuffer(string: ServerSentEvent.start))
            var events = DownloadEvents(service: service, caller: caller, since: start)
            listener.wake()
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                // Another process can revoke the key.
                group.addTask {
                    while (try? await Task.sleep(for: Self.checkInterval)) != nil { listener.wake() }
                }
                var sentAt = ContinuousClock.now
                for await _ in listener.wakes {
                    guard try await isStillAdmitted() else { break }
                    var text = try await events.next()
                    if text.isEmpty, sentAt.duration(to: .now) >= EventHub.silence { text = ServerSentEvent.keepAlive }
                    guard !text.isEmpty else { continue }
                    try await writer.write(ByteBuffer(string: text))
                    sentAt = .now
                    if events.hasMore {
                        listener.wake()
                    } else {
                        // Progress comes more often than anyone can read it.
                        try await Task.sleep(for: Self.pause)
                    }
                }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: ServerSentEvent.fields, body: body)
    }

    /// How many streams a key can have.
    private static let listenersMax = 16
    private static let checkInterval = Duration.seconds(1)
    private static let pause = Duration.milliseconds(250)

    /// Returns the revision after which changes are sent; `nil` for those from now on.
    private static func revision(in call: CaptureRoutes.Call) throws -> Int64? {
        if let last = call.request.headers[.lastEventID].flatMap({ Int64($0) }), last >= 0 { return last }
        guard let text = call.parameters["revision"] else { return nil }
        guard let revision = Int64(text), revision >= 0 else {
            throw FieldProblem(["query", "revision"], "Input should be a valid integer, 0 or more")
        }
        return revision
    }
}

/// What a listener hasn't been told yet.
private struct DownloadEvents {
    private let service: CaptureService
    private let caller: Caller
    /// Up to which revision everything was sent; `nil` before the first event.
    private var revision: Int64?
    private let start: Int64?
    /// Whether there were too many changes for the last call.
    private(set) var hasMore = false
    /// The running downloads, as they were sent.
    private var running: [String: Download] = [:]
    private var queue: String?
    private var connection: String?

    init(service: CaptureService, caller: Caller, since start: Int64?) {
        (self.service, self.caller, self.start) = (service, caller, start)
    }

    /// Returns the events since the last call.
    mutating func next() async throws -> String {
        var text = ""
        let since: Int64
        if let revision {
            since = revision
        } else {
            since = try await firstRevision()
            // So that a client that connects again continues here.
            text += try await queueEvent(id: since) + connectionEvent()
        }
        let found = try await service.queue.changes(after: since, of: caller.user)
        (revision, hasMore) = (found.revision, found.changes.count >= DownloadQueue.changesMax)
        for change in found.changes { text += try await event(change) }
        text += try await progress()
        return text + (try await queueEvent(id: nil)) + (try connectionEvent())
    }

    /// The revision to begin after: that of the client, unless this queue never had it.
    private func firstRevision() async throws -> Int64 {
        let now = try await service.queue.database.read { [user = caller.user] in
            try DownloadQueue.revision($0, of: user)
        }
        guard let start else { return now }
        return start <= now ? start : 0
    }

    private mutating func event(_ change: DownloadQueue.Change) async throws -> String {
        let id = "\(change.revision)"
        switch change {
        case .removal(let download, _):
            running[download] = nil
            let data = DownloadOptions.json(of: DownloadAcknowledgement(downloadID: download))
            return ServerSentEvent.text("removed", data: data, id: id)
        case .download(let row):
            let download = try await service.download(row, for: caller)
            running[download.downloadID] = download.status == .downloading ? download : nil
            return ServerSentEvent.text("download", data: DownloadOptions.json(of: download), id: id)
        }
    }

    /// The progress of running downloads, which has no revision.
    private mutating func progress() async throws -> String {
        let downloads = try await service.downloads(service.queue.running(of: caller.user), for: caller)
        let changed = downloads.filter { running[$0.downloadID] != $0 }
        running = Dictionary(downloads.map { ($0.downloadID, $0) }) { $1 }
        return changed.map { ServerSentEvent.text("download", data: DownloadOptions.json(of: $0), id: nil) }.joined()
    }

    private mutating func queueEvent(id: Int64?) async throws -> String {
        let data = DownloadOptions.json(of: try await HealthRoute(service: service).counts(of: caller.user).queue)
        guard data != queue else { return "" }
        queue = data
        return ServerSentEvent.text("queue", data: data, id: id.map { "\($0)" })
    }

    private mutating func connectionEvent() throws -> String {
        let data = DownloadOptions.json(of: service.network.connection(withKey: false))
        guard data != connection else { return "" }
        connection = data
        return ServerSentEvent.text("config", data: data, id: nil)
    }
}
