import Foundation

/// An HTTP request to a server on this computer.
package struct LoopbackRequest {
    package let method: String
    package let path: String
    package let port: Int
    package let host: String
    package let fields: [(name: String, value: String)]
    package let body: [UInt8]

    package init(
        method: String = "GET", path: String, port: Int, host: String = "localhost",
        fields: [(name: String, value: String)] = [], body: [UInt8] = [], secondsMax: Int = 3
    ) {
        (self.method, self.path, self.port, self.host) = (method, path, port, host)
        (self.fields, self.body, self.secondsMax) = (fields, body, secondsMax)
    }

    /// The time for an answer.
    private let secondsMax: Int
    private static let bytesMax = 1 << 16

    /// Returns the responses on both loopback addresses, head and body. The second request is sent lazily.
    package func responses() -> some Sequence<[UInt8]> {
        let isPossible = (1...65_535).contains(port)
        return (isPossible ? [false, true] : []).lazy.compactMap { send(isIPv6: $0) }
    }

    /// Decodes the JSON body of a response with status 200; `nil` for any other.
    package static func object<Value: Decodable>(_ type: Value.Type, in response: [UInt8]) -> Value? {
        let text = String(decoding: response, as: UTF8.self)
        guard text.hasPrefix("HTTP/1.1 200"), let head = text.range(of: "\r\n\r\n") else { return nil }
        return try? JSONDecoder().decode(type, from: Data(text[head.upperBound...].utf8))
    }

    private func send(isIPv6: Bool) -> [UInt8]? {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let number = socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
        guard number >= 0 else { return nil }
        defer { close(number) }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        var limit = timeval(tv_sec: secondsMax, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(number, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        guard Self.reach(number, port: port, isIPv6: isIPv6) else { return nil }
        let bytes = Array(head.utf8) + body
        guard write(number, bytes, bytes.count) == bytes.count else { return nil }
        return response(number)
    }

    private var head: String {
        let length = body.isEmpty && method == "GET" ? [] : [("Content-Length", "\(body.count)")]
        let all =
            [("Host", "\(host):\(port)"), ("Connection", "close")] + length + fields.map { ($0.name, $0.value) }
        return "\(method) \(path) HTTP/1.1\r\n" + all.map { "\($0.0): \($0.1)\r\n" }.joined() + "\r\n"
    }

    private static func reach(_ number: Int32, port: Int, isIPv6: Bool) -> Bool {
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = in_port_t(port).bigEndian
            address.sin6_addr = in6addr_loopback
            return reach(number, &address)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return reach(number, &address)
    }

    private static func reach<Address>(_ number: Int32, _ address: inout Address) -> Bool {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<Address>.size)) == 0
            }
        }
    }

    /// Reads the response, up to the limits for bytes and seconds.
    private func response(_ number: Int32) -> [UInt8] {
        let end = ContinuousClock.now + .seconds(secondsMax)
        var response: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while response.count < Self.bytesMax, ContinuousClock.now < end {
            let count = recv(number, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            response += buffer[..<count]
        }
        return response
    }
}
