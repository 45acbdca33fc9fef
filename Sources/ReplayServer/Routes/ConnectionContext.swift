import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The context of a request, with its connection.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// Returns the path parameter `:id`, percent-decoded (RFC 3986 §2.1).
    func name() throws -> String {
        guard let name = try parameters.require("id").removingPercentEncoding else {
            throw ErrorResponse(.badRequest, code: "bad-path", "the path isn't valid percent-encoding")
        }
        return name
    }

    /// Watches whether the client stays connected.
    func watchClient() async throws -> ClientPresence { try await ClientPresence.watch(channel) }
}
