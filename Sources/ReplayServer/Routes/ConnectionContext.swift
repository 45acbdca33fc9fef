import Foundation
import HTTPTypes
package import Hummingbird
package import NIOCore

/// The context of a request, with its connection.
package struct ConnectionContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
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

    /// The other end of the connection.
    package var remoteAddress: SocketAddress? { channel.remoteAddress }

    /// Determines the user of the connection.
    func client(_ clients: ClientCheck) async throws -> ClientCheck.Verdict {
        try await channel.eventLoop.submit { [channel] in clients.verdict(on: channel) }.get()
    }

    /// Watches whether the client stays connected.
    package func watchClient() -> ClientPresence { ClientPresence.watch(channel) }
}
