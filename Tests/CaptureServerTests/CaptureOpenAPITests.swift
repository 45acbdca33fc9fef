import Foundation
import TestSupport
import Testing

@testable import CaptureServer

/// `www/capture/openapi.json` beside the calls of the server.
struct CaptureOpenAPITests {
    private struct Description: Decodable {
        let paths: [String: [String: Operation]]
    }

    /// Of which nothing matters here.
    private struct Operation: Decodable {}

    @Test func everyCallIsDescribed() throws {
        let file = URL(fileURLWithPath: Checkout.path("www/capture/openapi.json"))
        let paths = try JSONDecoder().decode(Description.self, from: Data(contentsOf: file)).paths
        let described = paths.flatMap { path, operations in operations.keys.map { "\($0.uppercased()) \(path)" } }
        let calls = CaptureRoute.all.map { "\($0.method) /\($0.path.joined(separator: "/"))" }
        let pages = (Array(CaptureRoutes.documents.keys) + ["/redoc"]).map { "GET \($0)" }
        #expect(Set(calls + pages) == Set(described))
    }

    @Test(arguments: [
        (["download"], "POST"), (["config"], "GET, HEAD, PUT"), (["history", "x"], "DELETE"), (["health"], "GET, HEAD"),
        (["nothing"], ""),
    ])
    func allowedMethodsAreThoseOfTheTable(path: [String], allow: String) {
        #expect(CaptureRoute.allow(CaptureRoute.routes(at: path)) == allow)
    }
}
