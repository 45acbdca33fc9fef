import ArchiveStore
import HTTPTypes
import Hummingbird

/// `/api/health`: the server's version and engine. Open to all origins.
struct HealthRoute: Sendable {
    let site: Site

    private struct Health: Encodable {
        let status = "ok"
        let version: String
        let engine: EngineDescription?
        let stockUI: Bool
        /// The URL of the capture server; `nil` while it doesn't run.
        let capture: String?

        private enum CodingKeys: String, CodingKey {
            case status, version, engine, stockUI, capture
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(status, forKey: .status)
            try container.encode(version, forKey: .version)
            // Null instead of absent, to make a missing engine explicit.
            try container.encode(engine, forKey: .engine)
            try container.encode(stockUI, forKey: .stockUI)
            try container.encode(capture, forKey: .capture)
        }
    }

    func respond() async throws -> Response {
        let health = try await site.blocking {
            Health(
                version: site.version, engine: try site.assets.engine(), stockUI: try site.assets.hasStockInterface(),
                capture: ServerFile.running(at: site.store.layout.captureServerFile)?.address)
        }
        // The library on `localhost` requests this cross-origin to find out whether the browser resolves the other
        // name.
        let fields: HTTPFields = [
            .crossOriginResourcePolicy: "cross-origin", .accessControlAllowOrigin: site.hosts.controlOrigins[0],
        ]
        return try Responses.json(health, fields: fields)
    }
}
