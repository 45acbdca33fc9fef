import NIOCore
import NIOHTTP1

/// Sets the origin's security headers in every response, including those of the archive handler and the guard. Archived
/// scripts could use a document without a policy to reach the network.
final class PolicyHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// `nil` if no archives are served.
    private let hosts: HostPolicy?
    /// The only other value of `Connection-Allowlist` at a replay origin.
    private let bootPageConnections: String
    /// Host fields of the last request, cached because they rarely change within a connection.
    private var host: [String] = []
    /// Whether that request was for the library. Before the first valid request, the stricter policy of archives
    /// applies.
    private var isForControl: Bool

    init(hosts: HostPolicy?) {
        self.hosts = hosts
        bootPageConnections = hosts.map(SecurityHeaders.ownAndControlOrigins) ?? ""
        isForControl = hosts == nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let hosts, case .head(let head) = unwrapInboundIn(data) {
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
        if !head.headers.contains(name: "content-security-policy") {
            head.headers.add(name: "content-security-policy", value: SecurityHeaders.inert)
        }
        for (name, value) in isForControl ? Self.control : Self.replay {
            head.headers.replaceOrAdd(name: name, value: value)
        }
        if !isForControl, head.headers[Self.allowlist] != [bootPageConnections] {
            head.headers.replaceOrAdd(name: Self.allowlist, value: SecurityHeaders.ownOrigin)
        }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    private static let control = [
        // Another site that opens one of these in a window gets no reference to the window, so it can't inspect the
        // response.
        ("cross-origin-opener-policy", "same-origin"),
        // Firefox looks up the host of every link.
        ("x-dns-prefetch-control", "off"),
    ]
    private static let replay = control + [("origin-agent-cluster", "?1")]
    private static let allowlist = "connection-allowlist"
}
