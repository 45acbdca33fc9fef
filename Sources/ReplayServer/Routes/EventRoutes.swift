import ArchiveStore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import WebArchive

/// `GET /api/events`: changes of the store by any process, as server-sent events. Source: HTML, "Server-sent events".
struct EventRoutes: Sendable {
    let site: Site
    let events: EventHub

    var routes: RouteCollection<ConnectionContext> {
        RouteCollection(context: ConnectionContext.self)
            .get { request, context in try await stream(request, context) }
    }

    private func stream(_ request: Request, _ context: ConnectionContext) async throws -> Response {
        guard let listener = events.listen() else {
            throw ErrorResponse(
                .serviceUnavailable, code: "too-many-listeners",
                "too many listeners; the maximum is \(EventHub.listenersMax)",
                hint: "close other tabs of the library")
        }
        let last = request.headers[.lastEventID].flatMap { EventPosition($0) }
        let presence = context.watchClient()
        presence.onEnd { [weak listener] in listener?.end() }
        let body = ResponseBody { writer in
            defer { withExtendedLifetime(listener) {} }
            try await writer.write(ByteBuffer(string: ServerSentEvent.start))
            let now = try await site.blocking { try site.store.revision() }
            // Start with the changes since the client's last event.
            var position = EventPosition(archives: -1, jobs: last.map { min($0.jobs, now.jobs) } ?? now.jobs)
            try await send(since: &position, to: &writer)
            for await _ in listener.wakes {
                if try await !send(since: &position, to: &writer) {
                    try await writer.write(ByteBuffer(string: ServerSentEvent.keepAlive))
                }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: ServerSentEvent.fields.adding([.apiVersion: "1"]), body: body)
    }

    /// Sends changes since `position`, and updates it.
    ///
    /// - Returns: Whether there were any changes.
    @discardableResult
    private func send(
        since position: inout EventPosition, to writer: inout any ResponseBodyWriter
    ) async throws -> Bool {
        var hasSent = false
        let archives = try await site.blocking { try site.store.revision().archives }
        if archives != position.archives {
            position.archives = archives
            let data = "{\"revision\":\(archives)}"
            try await writer.write(Self.event("archives", data: data, id: position))
            hasSent = true
        }
        while true {
            let after = position.jobs
            let jobs = try await site.blocking {
                try site.store.jobs.changed(after: after, limit: Self.jobsMax)
            }
            for job in jobs {
                position.jobs = job.revision
                let data = String(decoding: try JSONText.encoded(job), as: UTF8.self)
                try await writer.write(Self.event("job", data: data, id: position))
                hasSent = true
            }
            if jobs.count < Self.jobsMax { return hasSent }
        }
    }

    /// - Parameter data: A single line.
    private static func event(_ name: String, data: String, id: EventPosition) -> ByteBuffer {
        ByteBuffer(string: ServerSentEvent.text(name, data: data, id: id.text))
    }

    /// The maximum number of jobs per query.
    private static let jobsMax = 200
}

/// The id of an event: the revisions up to which changes were sent.
struct EventPosition: Sendable, Hashable {
    var archives: Int
    var jobs: Int

    init(archives: Int, jobs: Int) {
        (self.archives, self.jobs) = (archives, jobs)
    }

    /// Parses an id; `nil` if it isn't valid.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let archives = Int(parts[0]), let jobs = Int(parts[1]), archives >= 0, jobs >= 0 else {
            return nil
        }
        self.init(archives: archives, jobs: jobs)
    }

    var text: String { "\(archives).\(jobs)" }
}
