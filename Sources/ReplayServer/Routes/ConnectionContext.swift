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

    /// Watches whether the client still waits for its answer.
    func watchClient() async throws -> ClientPresence { try await ClientPresence.watch(channel) }
}
