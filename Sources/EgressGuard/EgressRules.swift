/// What a guard lets through.
package struct EgressRules: Sendable {
    /// A host and a port of an intranet that may be reached although its address isn't public.
    package struct Exception: Sendable, Hashable {
        package let host: String
        package let port: Int

        package init(host: String, port: Int) { (self.host, self.port) = (host.lowercased(), port) }

        /// Reads `HOST:PORT`, or `[IPV6]:PORT`; `nil` if the text is something else.
        package init?(_ text: String) {
            guard let target = Destination(authority: text, port: nil) else { return nil }
            self.init(host: target.host, port: target.port)
        }
    }

    /// Ports of ordinary web servers.
    package var ports: Set<Int> = [80, 443]
    /// Hosts and ports that are let through whatever their addresses are.
    package var allowed: Set<Exception> = []
    /// Names that are refused.
    package var refusedHosts = chromiumServices
    /// Bytes in both directions, of all connections together.
    package var bytesMax: UInt64 = 64 << 30
    /// Connections that are open at one time.
    package var openConnectionsMax = 256
    /// Connections from the beginning on.
    package var connectionsMax = 100_000
    package var headTimeout = Duration.seconds(30)
    package var connectTimeout = Duration.seconds(20)
    /// How long no byte may pass in either direction.
    package var idleTimeout = Duration.seconds(300)

    package init() {}

    /// Hosts that Chromium calls for itself, for updates of its parts, for lists and for predictions. No page needs them.
    private static let chromiumServices: Set = [
        "android.clients.google.com", "clients1.google.com", "clients2.google.com", "clients2.googleusercontent.com",
        "clients4.google.com", "content-autofill.googleapis.com", "edgedl.me.gvt1.com", "mtalk.google.com",
        "optimizationguide-pa.googleapis.com", "redirector.gvt1.com", "safebrowsing.googleapis.com",
        "safebrowsingohttpgateway.googleapis.com", "update.googleapis.com",
    ]
}

/// Where a request wants to go.
struct Destination: Hashable {
    /// A host name or an IP address without brackets, in lower case, without a dot at its end.
    let host: String
    let port: Int

    /// Reads the authority of a request. RFC 3986 §3.2; a user name in it isn't accepted.
    ///
    /// - Parameter port: The port if none is named; `nil` if one must be.
    init?(authority: String, port defaultPort: Int?) {
        guard authority.utf8.count < 300 else { return nil }
        var host: Substring
        let rest: Substring
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            host = authority[..<end].dropFirst()
            rest = authority[end...].dropFirst()
            guard IPAddress(String(host)) != nil else { return nil }
        } else {
            let end = authority.firstIndex(of: ":") ?? authority.endIndex
            (host, rest) = (authority[..<end], authority[end...])
            guard host.utf8.allSatisfy(Self.isOfName) else { return nil }
        }
        guard let port = rest.isEmpty ? defaultPort : Self.port(rest) else { return nil }
        self.port = port
        if host.hasSuffix(".") { host = host.dropLast() }
        guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
        self.host = host.lowercased()
    }

    /// Reads `:PORT`.
    private static func port(_ text: Substring) -> Int? {
        let digits = text.dropFirst()
        guard text.hasPrefix(":"), digits.utf8.count <= 5, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(digits), (1...65535).contains(number)
        else { return nil }
        return number
    }

    /// Letters, digits, `-`, `.` and `_`, which some hosts have.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }
}
