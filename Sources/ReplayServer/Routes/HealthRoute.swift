import HTTPTypes
import Hummingbird

/// `/api/health`: that the server is there, and what it has. Other programs and origins may ask.
struct HealthRoute: Sendable {
    let site: Site

    private struct Health: Encodable {
        let status = "ok"
        let version: String
        let engine: EngineDescription?
        let stockUI: Bool

        private enum CodingKeys: String, CodingKey {
            case status, version, engine, stockUI
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(status, forKey: .status)
            try container.encode(version, forKey: .version)
            // Null, not absent: a missing engine is what a client asks this for.
            try container.encode(engine, forKey: .engine)
            try container.encode(stockUI, forKey: .stockUI)
        }
    }

    func respond() async throws -> Response {
        let health = try await site.blocking {
            Health(
                version: site.version, engine: try site.assets.engine(), stockUI: try site.assets.hasStockInterface())
        }
        // The library's page on `localhost` asks by this whether the browser resolves the other name: a cross-site request.
        let fields: HTTPFields = [
            .crossOriginResourcePolicy: "cross-origin", .accessControlAllowOrigin: site.hosts.controlOrigins[0],
        ]
        return try Responses.json(health, fields: fields)
    }
}
