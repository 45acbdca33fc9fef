import CaptureAPI
import CaptureWorker
import GRDB
import Hummingbird

/// `GET /health`
struct HealthRoute: Sendable {
    let service: CaptureService

    func respond(_ call: CaptureRoutes.Call) async throws -> Response {
        let counts = try await service.queue.database.read { database in
            (
                total: try Int.fetchOne(database, sql: "SELECT count(*) FROM downloads") ?? 0,
                queued: try Int.fetchOne(database, sql: "SELECT count(*) FROM downloads WHERE status = 'pending'") ?? 0,
                running: try Int.fetchOne(database, sql: "SELECT count(*) FROM downloads WHERE status = 'downloading'")
                    ?? 0
            )
        }
        let database = CaptureHealth.Database(connected: true, totalDownloads: counts.total)
        guard call.caller.role != .stranger else {
            return try JSONAnswer.response(PublishedHealth(timestamp: QueueTime.text(), database: database))
        }
        let health = CaptureHealth(
            timestamp: QueueTime.text(), database: database,
            software: service.settings.software, tools: service.toolVersions.current(),
            isolation: .init(reason: service.settings.isolation.reason),
            queue: .init(queued: counts.queued, running: counts.running, waitingFor: service.runner.waitingFor),
            library: call.caller.isLocal ? service.libraryAddress : nil)
        return try JSONAnswer.response(health)
    }
}
