import Foundation
import TestSupport
import Testing

extension HTTPAnswer {
    /// The body as a JSON object.
    func object() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
    }

    /// The code of the API's error object. Checks that it has a message.
    func errorCode() throws -> String {
        let error = try #require(try object()["error"] as? [String: Any])
        #expect((error["what"] as? String)?.isEmpty == false)
        return try #require(error["code"] as? String)
    }
}

extension LiveServer {
    /// A request with a JSON body and the token.
    func ask(_ method: String, _ target: String, json: String) async throws -> HTTPAnswer {
        try await ask(method, target, authority + [("Content-Type", "application/json")], body: Array(json.utf8))
    }
}
