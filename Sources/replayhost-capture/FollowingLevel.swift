import CaptureServer
import Logging

/// Logs what the current level allows.
struct FollowingLevel: LogHandler {
    /// How much is logged: it can change while the server runs.
    let level: Current<Logger.Level>
    private var handler: MultiplexLogHandler

    init(_ handlers: [any LogHandler], _ level: Current<Logger.Level>) {
        self.level = level
        handler = MultiplexLogHandler(handlers)
        handler.logLevel = .trace
    }

    /// The same for all copies.
    var logLevel: Logger.Level {
        get { level.value }
        set { level.value = newValue }
    }

    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) { handler.log(event: event) }
}
