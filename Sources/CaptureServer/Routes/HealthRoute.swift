import CaptureAPI
import CaptureWorker
import GRDB
import Hummingbird

/// `GET /health`
struct HealthRoute: Sendable {
    let service: CaptureService

    func respond(_ call: CaptureRoutes.Call) async throws -> Response {
        let (total, queue) = try await counts(of: call.caller.user)
        let database = CaptureHealth.Database(connected: true, totalDownloads: total)
        guard call.caller.role != .stranger else {
            return try JSONAnswer.response(PublishedHealth(timestamp: QueueTime.text(), database: database))
        }
        let health = CaptureHealth(
            timestamp: QueueTime.text(), database: database,
            software: service.settings.software, tools: service.toolVersions.current(),
            isolation: .init(reason: service.settings.isolation.reason), queue: queue,
            library: call.caller.isLocal ? service.libraryAddress : nil)
        return try JSONAnswer.response(health)
    }

    /// Counts the downloads.
    ///
    /// - Parameter user: Whose downloads; `nil` for those of all users.
    func counts(of user: Username? = nil) async throws -> (total: Int, queue: CaptureHealth.Queue) {
        let waitingFor = service.runner.waitingFor
        return try await service.queue.database.read { database in
            func count(_ condition: String) throws -> Int {
                try Int.fetchOne(
                    database,
                    sql: "SELECT count(*) FROM downloads WHERE \(condition) AND (?1 IS NULL OR username = ?1)",
                    arguments: [user?.text]) ?? 0
            }
            let queue = CaptureHealth.Queue(
                queued: try count("status = 'pending'"), running: try count("status = 'downloading'"),
                waitingFor: waitingFor)
            return (try count("true"), queue)
        }
    }
}
