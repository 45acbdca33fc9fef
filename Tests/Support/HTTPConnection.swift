#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A response, byte for byte.
package struct HTTPAnswer: Sendable {
    package let status: Int
    package let version: String
    /// The fields in order, with names as sent.
    package let fields: [(name: String, value: String)]
    package let body: [UInt8]

    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The joined values of a field; `nil` if it's missing.
    package subscript(_ name: String) -> String? {
        let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

/// An error of a connection to a server.
package struct HTTPConnectionError: Error, CustomStringConvertible {
    package let description: String
    /// The error number of the failed system call, if known.
    package let number: Int32?

    package init(description: String, number: Int32? = nil) { (self.description, self.number) = (description, number) }
}

/// Waits until no process listens on a port of `127.0.0.1`.
///
/// A server's sockets may stay open for a moment: a program that another test starts has copies of them until it runs.
package func becomesRefused(port: Int) async throws -> Bool {
    try await eventually {
        do {
            _ = try HTTPConnection(port: port)
            return false
        } catch let error as HTTPConnectionError where error.number == ECONNREFUSED {
            return true
        }
    }
}

/// A connection to a local server that sends exactly the given bytes. It blocks, so use it inside `onThread`.
package final class HTTPConnection {
    private let descriptor: Int32
    private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1 << 18)
    private var received: [UInt8] = []
    private var position = 0

    /// - Parameter receiveBuffer: The size of the receive buffer in bytes; the system's default if `nil`.
    package init(port: Int, isIPv6: Bool = false, receiveBuffer: Int32? = nil) throws {
        // Otherwise, programs started by tests would keep the connection open.
        descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw HTTPConnectionError(description: "no socket, errno \(errno)") }
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        // If the server never responds, the test fails instead of blocking.
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        guard Self.connect(descriptor, port: port, isIPv6: isIPv6) == 0 else {
            let number = errno
            throw HTTPConnectionError(description: "not connected to port \(port), errno \(number)", number: number)
        }
    }

    deinit {
        close(descriptor)
        buffer.deallocate()
    }

    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) throws {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw HTTPConnectionError(description: "not sent, errno \(errno)") }
            done += count
        }
    }

    /// Ends sending, so that the server sees the end of the data.
    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Resets the connection, as when a program is killed.
    package func abort() {
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Reads one response, without any byte of the next one.
    ///
    /// - Parameter isHead: Whether it's the response to HEAD, which has no body. RFC 9112 §6.3.
    package func readAnswer(isHead: Bool = false) throws -> HTTPAnswer {
        let head = try readHead()
        let answer = try Self.parse(head)
        if isHead || answer.status == 304 || answer.status == 204 { return answer }
        let body: [UInt8]
        if answer["transfer-encoding"]?.lowercased() == "chunked" {
            body = try readChunks()
        } else if let length = answer["content-length"] {
            guard let count = Int(length) else { throw HTTPConnectionError(description: "bad length \(length)") }
            body = try read(count)
        } else {
            body = try readToEnd()
        }
        return HTTPAnswer(status: answer.status, version: answer.version, fields: answer.fields, body: body)
    }

    /// Sends a request and reads the response.
    package func ask(
        _ method: String = "GET", _ target: String, host: String, _ fields: [(String, String)] = [], body: [UInt8] = []
    ) throws -> HTTPAnswer {
        try send(request(method, target, host: host, fields, body: body))
        return try readAnswer(isHead: method == "HEAD")
    }

    /// Reads exactly `count` bytes.
    package func read(_ count: Int) throws -> [UInt8] {
        while received.count - position < count { guard try fill() else { throw cut(wanted: count) } }
        defer { position += count }
        return Array(received[position..<position + count])
    }

    /// Reads until the server closes or resets the connection.
    package func readToEnd() throws -> [UInt8] {
        while try fill() {}
        defer { position = received.count }
        return Array(received[position...])
    }

    /// Returns whether the server has closed the connection without sending more.
    package func isAtEnd() throws -> Bool {
        if position < received.count { return false }
        return try !fill()
    }

    private func readHead() throws -> [UInt8] {
        while true {
            // Searches from the start after each read: a head is short, and `fill` may move it.
            var searched = position
            while searched + 3 < received.count {
                if received[searched...(searched + 3)].elementsEqual([13, 10, 13, 10]) {
                    defer { position = searched + 4 }
                    return Array(received[position..<searched])
                }
                searched += 1
            }
            guard try fill() else { throw cut(wanted: 4) }
        }
    }

    private func readChunks() throws -> [UInt8] {
        var body: [UInt8] = []
        while let chunk = try readChunk() { body += chunk }
        return body
    }

    /// Reads the head of a response with a streamed body.
    package func readAnswerHead() throws -> HTTPAnswer { try Self.parse(try readHead()) }

    /// Reads the next chunk of a chunked body; `nil` at its end. RFC 9112 §7.1.
    package func readChunk() throws -> [UInt8]? {
        var line: [UInt8] = []
        while !line.suffix(2).elementsEqual([13, 10]) { line += try read(1) }
        let digits = String(decoding: line.dropLast(2), as: UTF8.self)
        guard let count = Int(digits, radix: 16) else { throw HTTPConnectionError(description: "chunk \(digits)") }
        let bytes = try read(count)
        _ = try read(2)
        return count == 0 ? nil : bytes
    }

    /// Waits for more bytes. Returns `false` at the end.
    private func fill() throws -> Bool {
        if position > 0, position == received.count {
            received.removeAll(keepingCapacity: true)
            position = 0
        }
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        let number = errno
        if count > 0 { received.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<count])) }
        if count < 0, number != ECONNRESET {
            throw HTTPConnectionError(description: number == EAGAIN ? "no answer within 600 s" : "errno \(number)")
        }
        return count > 0
    }

    private func cut(wanted: Int) -> HTTPConnectionError {
        let rest = String(decoding: received[position...].prefix(200), as: UTF8.self)
        return HTTPConnectionError(
            description: "the connection ended, \(wanted) bytes wanted, \(received.count - position) came: \(rest)")
    }

    private static func parse(_ head: [UInt8]) throws -> HTTPAnswer {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = lines[0].split(separator: " ", maxSplits: 2)
        guard words.count >= 2, let status = Int(words[1]) else {
            throw HTTPConnectionError(description: "no status line: \(lines[0])")
        }
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: String(parts[0]), value: String((parts.last ?? "").drop(while: { $0 == " " })))
        }
        return HTTPAnswer(status: status, version: String(words[0]), fields: fields, body: [])
    }

    private static func connect(_ descriptor: Int32, port: Int, isIPv6: Bool) -> Int32 {
        if isIPv6 {
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = in_port_t(port).bigEndian
            inet_pton(AF_INET6, "::1", &name.sin6_addr)
            return withUnsafePointer(to: &name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, "127.0.0.1", &name.sin_addr)
        return withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// Returns the bytes of a request.
package func request(
    _ method: String = "GET", _ target: String, host: String, _ fields: [(String, String)] = [], body: [UInt8] = []
) -> [UInt8] {
    var lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)"] + fields.map { "\($0.0): \($0.1)" }
    if !body.isEmpty, !fields.contains(where: { $0.0.lowercased() == "content-length" }) {
        lines.append("Content-Length: \(body.count)")
    }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
}

/// A socket that occupies a port.
package final class TakenPort: Sendable {
    package let port: Int
    private let descriptor: Int32

    /// Listens on one loopback IP address, on any free port.
    package init(isIPv6: Bool) throws {
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let bound: Int32
        if isIPv6 {
            var yes: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, socklen_t(MemoryLayout<Int32>.size))
            name.sin6_family = sa_family_t(AF_INET6)
            inet_pton(AF_INET6, "::1", &name.sin6_addr)
            bound = withUnsafePointer(to: &name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
            }
        } else {
            var short = sockaddr_in()
            short.sin_family = sa_family_t(AF_INET)
            inet_pton(AF_INET, "127.0.0.1", &short.sin_addr)
            bound = withUnsafePointer(to: &short) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        guard bound == 0, listen(descriptor, 1) == 0 else {
            throw HTTPConnectionError(description: "no port to take, errno \(errno)")
        }
        _ = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        self.descriptor = descriptor
        // The port has the same offset in both address structures.
        port = Int(in_port_t(bigEndian: name.sin6_port))
    }

    deinit { close(descriptor) }

    /// Occupies a port that is free on the other loopback IP address.
    package static func alone(isIPv6: Bool) throws -> TakenPort {
        for _ in 0..<20 {
            let taken = try TakenPort(isIPv6: isIPv6)
            do {
                _ = try HTTPConnection(port: taken.port, isIPv6: !isIPv6)
            } catch {
                return taken
            }
        }
        throw HTTPConnectionError(description: "every port is taken on the other address")
    }
}
