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

    /// Whether the client is still there, for work that takes long before anything can be sent.
    var isClientThere: @Sendable () -> Bool {
        { [channel] in channel.isActive }
    }
}
