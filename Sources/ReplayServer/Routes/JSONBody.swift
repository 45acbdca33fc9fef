import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Bodies of requests that are JSON.
enum JSONBody {
    /// Reads a request's body as a value, whole and within bounds.
    ///
    /// The type is required: other sites' pages cannot send it without asking first.
    ///
    /// - Throws: `ErrorResponse` with 415, 413, or 400 that says which key is wrong.
    static func read<Value: Decodable>(_ request: Request) async throws -> Value {
        let type = request.headers[.contentType]?.prefix { $0 != ";" } ?? ""
        guard type.trimmingCharacters(in: .whitespaces).lowercased() == "application/json" else {
            throw ErrorResponse(
                .unsupportedMediaType, code: "bad-type", "the body has the type application/json",
                hint: "send Content-Type: application/json")
        }
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: bytesMax)
        } catch is NIOTooManyBytesError {
            throw ErrorResponse(.contentTooLarge, code: "body-too-large", "the body has at most \(bytesMax) bytes")
        }
        do {
            return try JSONDecoder().decode(Value.self, from: Data(body.readableBytesView))
        } catch let error as DecodingError {
            throw ErrorResponse(.badRequest, code: "bad-body", words(for: error))
        }
    }

    private static func words(for error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "the key \(key.stringValue) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            context.codingPath.isEmpty
                ? "the body is no JSON object"
                : "the value of \(path(context.codingPath)) is not of the kind that belongs there"
        default: "the body is not JSON"
        }
    }

    /// For example `tags[2]`.
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
