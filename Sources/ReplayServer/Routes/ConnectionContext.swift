import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// What a route knows of the connection that its request came on.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// What the path has in the place of `:id`, for example an archive's name. RFC 3986 §2.1: percent-encoding undone.
    func name() throws -> String {
        guard let name = try parameters.require("id").removingPercentEncoding else {
            throw ErrorResponse(.badRequest, code: "bad-path", "the path is not well-formed percent-encoding")
        }
        return name
    }

    /// Watches whether the client still waits for its answer.
    func watchClient() async throws -> ClientPresence { try await ClientPresence.watch(channel) }
}
