package import NIOCore
import Synchronization

/// What a connection is doing; for those who choose which connections to keep.
package final class RequestActivity: Sendable {
    private let busy = Atomic(false)
    private let progress = Atomic(NIODeadline.now().uptimeNanoseconds)

    package init() {}

    /// Whether there is a request whose response hasn't ended.
    package internal(set) var isBusy: Bool {
        get { busy.load(ordering: .relaxed) }
        set { busy.store(newValue, ordering: .relaxed) }
    }

    /// When a part of a request or of a response was read or written last, or the connection was opened.
    package internal(set) var lastProgress: NIODeadline {
        get { .uptimeNanoseconds(progress.load(ordering: .relaxed)) }
        set { progress.store(newValue.uptimeNanoseconds, ordering: .relaxed) }
    }
}

/// What a client must do in time.
package struct ClientLimits: Sendable {
    /// The time for a connection's first head, in which there can be a TLS handshake.
    package var firstHead = ConnectionGuard.idleLimit
    /// How many bytes of a body must come in a second, on average after some time; `nil` for any.
    package var bodyBytesPerSecond: Int?

    package init() {}
}
