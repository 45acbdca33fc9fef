import NIOCore
import NIOHTTP1

/// Gives every response the policy of the origin that it is sent for, whoever made it: a route, the archive handler, or the guard
/// that refuses what is no HTTP. A document without a policy would be a way out for the archived scripts of its origin.
final class PolicyHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let hosts: HostPolicy
    /// Of the last request: most of a connection's requests have the same.
    private var host: [String] = []
    /// Whether that request was for the library. What could not be read as a request is taken for one to an archive.
    private var isForControl = false

    init(hosts: HostPolicy) {
        self.hosts = hosts
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) {
            let host = head.headers["host"]
            if host != self.host {
                self.host = host
                isForControl =
                    switch hosts.role(hosts: host) {
                    case .control, .address, .addressOfReplay: true
                    case .replay, .stock, .misdirected, .malformed: false
                    }
            }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), head.status.code >= 200 else {
            return context.write(data, promise: promise)
        }
        for (name, value) in isForControl ? Self.control : Self.replay where !head.headers.contains(name: name) {
            head.headers.add(name: name, value: value)
        }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    private static let control = [
        ("content-security-policy", SecurityHeaders.inert),
        // Another site that opens one of these in a window gets no hold of that window, and so can't tell what was answered.
        ("cross-origin-opener-policy", "same-origin"),
        // Firefox looks up the host of every link.
        ("x-dns-prefetch-control", "off"),
    ]
    private static let replay =
        control + [("connection-allowlist", SecurityHeaders.ownOrigin), ("origin-agent-cluster", "?1")]
}
