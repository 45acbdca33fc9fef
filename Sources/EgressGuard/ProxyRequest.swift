import NIOCore
import NIOHTTP1

/// A request to the guard: where it goes, and what the host gets of it.
struct ProxyRequest: Sendable {
    let destination: Destination
    /// Whether the tool asks for a connection that isn't read: `CONNECT`.
    let isTunnel: Bool
    /// The head for the host; empty for a tunnel.
    let head: ByteBuffer
    private let isChunked: Bool

    /// Reads `CONNECT HOST:PORT` and requests with an absolute `http` URL; `nil` for others.
    ///
    /// The host gets the path, the fields that aren't for the guard, and `Connection: close`. `Via` isn't added, so that
    /// hosts answer as they would without the guard. RFC 9110 §7.6.1, RFC 9112 §3.2.
    init?(_ request: HTTPRequestHead) {
        let coding = request.headers[canonicalForm: "transfer-encoding"]
        guard coding.isEmpty || coding == ["chunked"] else { return nil }
        isChunked = !coding.isEmpty
        if request.method == .CONNECT {
            guard let destination = Destination(authority: request.uri, port: nil) else { return nil }
            (self.destination, isTunnel, head) = (destination, true, ByteBuffer())
            return
        }
        let scheme = "http://"
        guard request.uri.prefix(scheme.count).lowercased() == scheme else { return nil }
        let rest = request.uri.dropFirst(scheme.count)
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let authority = String(rest[..<end])
        guard let destination = Destination(authority: authority, port: 80) else { return nil }
        (self.destination, isTunnel) = (destination, false)
        let path = rest[end...].prefix { $0 != "#" }
        let forGuard = Self.forGuard.union(request.headers[canonicalForm: "connection"].map { $0.lowercased() })
        var lines =
            "\(request.method.rawValue) \(path.hasPrefix("/") ? "" : "/")\(path) HTTP/1.1\r\nHost: \(authority)\r\n"
        for (name, value) in request.headers where !forGuard.contains(name.lowercased()) {
            if isChunked, name.lowercased() == "content-length" { continue }
            lines += "\(name): \(value)\r\n"
        }
        head = ByteBuffer(string: lines + "Connection: close\r\n\r\n")
    }

    private static let forGuard: Set<String> = [
        "host", "connection", "proxy-connection", "proxy-authorization", "keep-alive", "te", "trailer", "upgrade",
    ]

    /// Bytes of the body as the host gets them. RFC 9112 §7.1.
    func framed(_ bytes: ByteBuffer) -> ByteBuffer {
        guard isChunked, bytes.readableBytes > 0 else { return bytes }
        var result = ByteBuffer(string: String(bytes.readableBytes, radix: 16) + "\r\n")
        result.writeImmutableBuffer(bytes)
        result.writeString("\r\n")
        return result
    }

    /// What follows the body.
    var end: ByteBuffer { ByteBuffer(string: isChunked ? "0\r\n\r\n" : "") }
}
