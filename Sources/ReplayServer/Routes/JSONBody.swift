import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Reads JSON request bodies.
enum JSONBody {
    /// Decodes a request's body.
    ///
    /// The content type is required, because other sites can't send it without a CORS preflight.
    ///
    /// - Throws: `ErrorResponse` 415, 413, or 400 with the invalid key.
    static func read<Value: Decodable>(_ request: Request) async throws -> Value {
        let type = request.headers[.contentType]?.prefix { $0 != ";" } ?? ""
        guard type.trimmingCharacters(in: .whitespaces).lowercased() == "application/json" else {
            throw ErrorResponse(
                .unsupportedMediaType, code: "bad-type", "the body must have the type application/json",
                hint: "send Content-Type: application/json")
        }
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: bytesMax)
        } catch is NIOTooManyBytesError {
            throw ErrorResponse(
                .contentTooLarge, code: "body-too-large", "the body is too large; the maximum is \(bytesMax) bytes")
        }
        do {
            return try JSONDecoder().decode(Value.self, from: Data(body.readableBytesView))
        } catch let error as DecodingError {
            throw ErrorResponse(.badRequest, code: "bad-body", message(for: error))
        }
    }

    private static func message(for error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "the key \(key.stringValue) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            context.codingPath.isEmpty
                ? "the body isn't a JSON object"
                : "the value of \(path(context.codingPath)) has the wrong type"
        default: "the body isn't valid JSON"
        }
    }

    /// Returns a path such as `tags[2]`.
    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }

    private static let bytesMax = 1 << 20
}
