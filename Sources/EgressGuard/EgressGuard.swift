import NIOCore
import NIOHTTP1
import NIOPosix

#if canImport(Glibc)
import Glibc
#endif

/// A forward proxy on a unix socket: the only way to the network for the tools of one attempt.
///
/// Tools send plain HTTP requests with an absolute URL, and `CONNECT` for everything else (RFC 9112 §3.2.2, RFC 9110
/// §9.3.6). A host is resolved once, its addresses are checked, and the connection goes to an address that was checked.
/// Redirects are requests of the tools, so they come by again.
///
/// A plain request has a connection of its own, since the next one may be for another host. The response isn't read, but
/// passed on as it is.
package final class EgressGuard: Sendable {
    private typealias Client = NIOAsyncChannel<ClientPart, ByteBuffer>
    private typealias ClientParts = NIOAsyncChannelInboundStream<ClientPart>.AsyncIterator
    private typealias ClientWriter = NIOAsyncChannelOutboundWriter<ByteBuffer>

    private let rules: EgressRules
    private let hosts: HostBook
    private let budget: Budget
    private let onEvent: @Sendable (EgressEvent) -> Void

    /// - Parameter onEvent: Called before the first byte is passed on, and for each refusal.
    package init(
        rules: EgressRules, names: EgressNames = .system, onEvent: @escaping @Sendable (EgressEvent) -> Void
    ) {
        (self.rules, self.onEvent) = (rules, onEvent)
        hosts = HostBook(rules: rules, names: names)
        budget = Budget(rules: rules)
    }

    /// Bytes that passed in both directions.
    package var bytes: UInt64 { budget.bytes }

    /// Whether no more bytes pass.
    package var isUsedUp: Bool { budget.bytes >= rules.bytesMax }

    /// Listens on a unix socket in a folder while the body runs. After it, all connections are closed.
    ///
    /// - Parameters:
    ///   - folder: On Linux, its path can have any length. Elsewhere, that of the socket has at most 103 bytes.
    ///   - name: A socket of this name that is left there is replaced.
    ///   - body: Called when tools can connect.
    package func serve<Result: Sendable>(
        in folder: String, name: String, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        #if os(Linux)
        // A path in an address has 107 bytes at most. unix(7)
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "open") }
        defer { close(descriptor) }
        let path = "/proc/self/fd/\(descriptor)/\(name)"
        #else
        let path = "\(folder)/\(name)"
        #endif
        let connections = Connections<Client> { await self.serve($0) }
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try ClientPartHandler.add(to: channel.pipeline.syncOperations)
                    try connections.accept(channel) { try Client(wrappingChannelSynchronously: channel) }
                }
            }
            .bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
        return try await connections.run(on: server, while: body)
    }

    private func serve(_ client: Client) async {
        // A tool that goes away, and a host that resets a connection, are no errors of the guard.
        try? await client.executeThenClose { inbound, outbound in
            let timer = client.channel.eventLoop.scheduleTask(in: .init(rules.headTimeout)) {
                client.channel.close(promise: nil)
            }
            var event = EgressEvent()
            do {
                var parts = inbound.makeAsyncIterator()
                guard let part = try await parts.next() else { return timer.cancel() }
                timer.cancel()
                guard case .head(let head) = part, let request = ProxyRequest(head) else { throw Refused(.invalid) }
                (event.host, event.port) = (request.destination.host, request.destination.port)
                try budget.open()
                defer { budget.close() }
                let (host, address) = try await connect(request.destination)
                event.address = address.description
                onEvent(event)
                try await relay(request, Handed(parts), outbound, host)
            } catch let error where error is Refused || error is HTTPParserError {
                let refusal = (error as? Refused)?.refusal ?? .invalid
                event.refusal = refusal
                onEvent(event)
                // After that, the tool has already got something from the host.
                if event.address == nil { try await outbound.write(refusal.response) }
            }
            // Closing drops what isn't sent yet.
            try await client.channel.writeAndFlush(ByteBuffer()).get()
        }
    }

    /// Connects to the first address that answers.
    private func connect(_ destination: Destination) async throws -> (HostConnection.Stream, IPAddress) {
        var refusal = EgressEvent.Refusal.noConnection
        for address in try await hosts.addresses(of: destination) {
            guard let target = address.socketAddress(port: destination.port) else { continue }
            do {
                return (try await HostConnection.connect(to: target, rules), address)
            } catch ChannelError.connectTimeout {
                refusal = .tooSlow
            } catch is IOError {
                continue
            }
        }
        throw Refused(refusal)
    }

    /// Passes bytes on in both directions until the host has sent everything.
    private func relay(
        _ request: ProxyRequest, _ parts: Handed<ClientParts>, _ client: ClientWriter,
        _ host: HostConnection.Stream
    ) async throws {
        let budget = budget
        try await host.executeThenClose { inbound, outbound in
            if request.isTunnel { try await client.write(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n")) }
            // Each task returns whether the connection is over.
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    for try await bytes in inbound {
                        try budget.count(bytes.readableBytes)
                        try await client.write(bytes)
                    }
                    return true
                }
                group.addTask {
                    guard var parts = parts.take() else { return true }
                    func send(_ bytes: ByteBuffer) async throws {
                        guard bytes.readableBytes > 0 else { return }
                        try budget.count(bytes.readableBytes)
                        try await outbound.write(bytes)
                    }
                    try await send(request.head)
                    while let part = try await parts.next() {
                        switch part {
                        case .bytes(let bytes): try await send(request.framed(bytes))
                        case .end where !request.isTunnel: try await send(request.end)
                        case .end: continue
                        // A second request may be for another host. The tool sends it again on a new connection.
                        case .head: return true
                        }
                    }
                    if request.isTunnel { outbound.finish() }
                    // A tool that closes a plain connection doesn't want the response any more.
                    return !request.isTunnel
                }
                // The errors of tasks that are cancelled after this don't count.
                while let isOver = try await group.next(), !isOver {}
                group.cancelAll()
            }
        }
    }
}

extension EgressEvent.Refusal {
    /// The guard's response.
    fileprivate var response: ByteBuffer {
        let text = "\(reason)\n"
        return ByteBuffer(
            string: """
                HTTP/1.1 \(status) \(statusText)\r
                Proxy-Status: replayhost; error=\(rawValue)\r
                Content-Type: text/plain; charset=utf-8\r
                Content-Length: \(text.utf8.count)\r
                Connection: close\r
                \r
                \(text)
                """)
    }
}
