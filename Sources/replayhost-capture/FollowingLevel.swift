import Logging
import Synchronization

/// How much is logged: it can change while the server runs.
final class CurrentLogLevel: Sendable {
    private let level: Mutex<Logger.Level>

    init(_ level: Logger.Level) { self.level = Mutex(level) }

    var value: Logger.Level {
        get { level.withLock { $0 } }
        set { level.withLock { $0 = newValue } }
    }
}

/// Logs what the current level allows.
struct FollowingLevel: LogHandler {
    let level: CurrentLogLevel
    private var handler: MultiplexLogHandler

    init(_ handlers: [any LogHandler], _ level: CurrentLogLevel) {
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
