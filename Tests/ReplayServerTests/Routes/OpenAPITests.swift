import Foundation
import Hummingbird
import Logging
import TestSupport
import Testing

@testable import ReplayServer

/// `www/openapi.json` beside the routes of the server.
struct OpenAPITests {
    private struct Description: Decodable {
        let paths: [String: [String: Operation]]
    }

    /// Of which nothing matters here.
    private struct Operation: Decodable {}

    /// The routes of `/api` as `GET /api/archives/{id}`. `HEAD` comes with each `GET`.
    private func served() async throws -> Set<String> {
        var found: Set<String> = []
        try await withServer { server in
            let ports = ReplayPorts(
                store: server.store, limits: ReplayPorts.Limits(), logger: Logger(label: "test")
            ) { _, _ in throw CancellationError() }
            for route in server.server.library(ports).routes where route.method != .head {
                let path = route.path.description.split(separator: "/", omittingEmptySubsequences: true).map {
                    $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0)
                }
                if path.first == "api" { found.insert("\(route.method) /\(path.joined(separator: "/"))") }
            }
        }
        return found
    }

    @Test func everyRouteIsDescribed() async throws {
        let file = URL(fileURLWithPath: Checkout.path("www/openapi.json"))
        let paths = try JSONDecoder().decode(Description.self, from: Data(contentsOf: file)).paths
        let described = Set(
            paths.filter { $0.key.hasPrefix("/api") }.flatMap { path, operations in
                operations.keys.map { "\($0.uppercased()) \(path)" }
            })
        // Former paths only redirect.
        let former = "/api\(FormerCollectionRoutes.path)"
        let served = try await served().filter { !$0.contains(former) }
        #expect(served.subtracting(described).sorted() == [])
        #expect(described.subtracting(served).sorted() == [])
    }
}
