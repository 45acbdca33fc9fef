import ArchiveStore
import CaptureAPI
import Foundation
import Synchronization

/// One request by curl.
struct CurlRun: Sendable {
    let session: WorkerSession
    let curl: String
    /// Header fields of a browser, which are sent instead of those of curl; `nil` without.
    var fields: [String: String]?
    /// The size after which the body ends.
    var bytesMax = UInt64.max
    /// The time after which the body ends.
    var seconds: Double?

    /// Sends the request and stores the response.
    ///
    /// - Parameters:
    ///   - name: The start of the names of files.
    ///   - isUnwanted: Whether the body needn't be read.
    /// - Throws: `ToolFailure`.
    func fetch(
        _ url: String, name: String, isUnwanted: @escaping @Sendable (ResponseHead) -> Bool = { _ in false }
    ) async throws -> DocumentAttempt.Exchange {
        let (head, body) = ("\(session.parts)/\(name).head", "\(session.output)/\(name).body")
        let fieldsFile = "\(session.parts)/\(name).fields"
        for path in [head, body, fieldsFile] { try Folder.delete(path) }
        if let fields { try Self.write(fields, to: fieldsFile) }
        defer { unlink(fieldsFile) }
        let arguments = arguments(url, head: head, body: body, fieldsFile: fieldsFile)
        session.log.add("curl " + arguments.joined(separator: " "))
        let read = Mutex(CurlOutput())
        let end: ToolRun.End
        var isCut = false
        let (bytesMax, start) = (bytesMax, ContinuousClock.now)
        let deadline = seconds.map { start + .seconds($0) }
        do {
            end = try await session.run(curl, arguments) { stream, line in
                let event = read.withLock { $0.read(line, from: stream) }
                if case .log(let text) = event { session.log.add(text, from: "curl") }
                // Decided once the whole head was read.
                if case .headEnd = event, let head = ResponseHead(path: head), isUnwanted(head) {
                    throw BodyEnd.unwanted
                }
            } progress: {
                if Folder.fileSize(body) ?? 0 > bytesMax || deadline.map({ $0 < .now }) == true { throw BodyEnd.cut }
                return Self.progress(head: head, body: body)
            }
        } catch let reason as BodyEnd {
            end = .exited(0)
            isCut = reason == .cut
        }
        let output = read.withLock { $0 }
        guard end == .exited(0), let received = ResponseHead(path: head) else {
            throw ToolFailure(code: end, output.error)
        }
        if !Folder.exists(body) { _ = try Descriptor(path: body, flags: O_WRONLY | O_CREAT) }
        return DocumentAttempt.Exchange(
            url: url, request: output.request, head: received, body: body, ipAddress: session.egress.address(of: url),
            isCut: isCut)
    }

    private enum BodyEnd: Error {
        case unwanted, cut
    }

    /// In a file: arguments are seen by other users of this computer, and get into the log.
    private static func write(_ fields: [String: String], to path: String) throws {
        let left = ["host", "range", "connection", "content-length", "content-type", "accept-encoding"]
        let lines = fields.filter { name, _ in
            let name = name.lowercased()
            return !left.contains(name) && !["if-", "proxy-", ":"].contains(where: name.hasPrefix)
        }.sorted { $0.key < $1.key }.map { "\(RequestHead.oneLine($0)): \(RequestHead.oneLine($1))\r\n" }
        let file = try Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_EXCL)
        try Array(lines.joined().utf8).withUnsafeBytes { try file.append($0) }
    }

    private func arguments(_ url: String, head: String, body: String, fieldsFile: String) -> [String] {
        let own = [
            "--user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            "--header", "Accept: text/html,application/xhtml+xml,application/pdf,application/epub+zip,*/*;q=0.8",
            "--header", "Accept-Language: en;q=0.8,*;q=0.5",
        ]
        return [
            // Without the person's .curlrc
            "--disable", "--silent", "--show-error", "--verbose", "--globoff", "--path-as-is", "--http1.1",
            "--proto", "=http,https", "--connect-timeout", "30", "--speed-limit", "1", "--speed-time", "50",
        ] + (fields == nil ? own : ["--header", "@\(fieldsFile)"]) + [
            "--dump-header", head, "--output", body,
            // A tunnel for http too, so that the request is the one that the site gets
            "--proxy", session.proxy, "--noproxy", "", "--proxytunnel", "--suppress-connect-headers",
        ]
            + (!session.order.hasCookies || fields != nil
                ? [] : ["--cookie", "\(session.folder)/\(SessionFile.cookies)"]) + [
                "--", url,
            ]
    }

    private static func progress(head: String, body: String) -> DownloadProgress? {
        guard let bytes = Folder.fileSize(body) else { return nil }
        let total = ResponseHead(path: head)?.contentLength
        let percent = total.flatMap { $0 > 0 ? min(100, (Double(bytes) / Double($0) * 1000).rounded() / 10) : nil }
        return DownloadProgress(percent: percent, bytes: bytes, total: total)
    }
}

extension ResponseHead {
    /// - Throws: `ToolFailure` if the status isn't 200.
    func checkStatus() throws {
        let line = "the site answered \(status)"
        switch status {
        case 200: return
        case 204, 205: throw ToolFailure(.noFile, "\(line), without content")
        case 401, 407: throw ToolFailure(.loginRequired, line)
        case 404, 410: throw ToolFailure(.notFound, line)
        case 429, 503:
            throw ToolFailure(
                .rateLimited, line, retryAfterSeconds: self["retry-after"].flatMap { RetryAfter.seconds($0) })
        case 451: throw ToolFailure(.geoBlocked, line)
        case 500...: throw ToolFailure(.network, line)
        default: throw ToolFailure(.toolFailed, line)
        }
    }
}

/// What curl prints with `--verbose`.
struct CurlOutput: Sendable {
    /// The request as the site got it.
    private(set) var request: [UInt8] = []
    /// Whether the lines are of the request to the guard.
    private var isConnecting = false
    private(set) var error: String?

    enum Event {
        case none
        /// The response's head is complete.
        case headEnd
        case log(String)
    }

    mutating func read(_ line: String, from stream: ToolRun.Stream) -> Event {
        if stream == .output { return .none }
        if line.hasPrefix(">") {
            if line.hasPrefix("> CONNECT ") { isConnecting = true }
            if !isConnecting { request += Array("\(line.dropFirst(2))\r\n".utf8) }
            if line.dropFirst().allSatisfy(\.isWhitespace) { isConnecting = false }
        } else if line.hasPrefix("<") {
            // The empty line: curl writes "< " before the line end.
            return line.dropFirst().allSatisfy(\.isWhitespace) ? .headEnd : .none
        } else if line.hasPrefix("curl: ") {
            error = String(line.dropFirst(6))
            return .log(line)
        }
        return .none
    }
}

extension ToolFailure {
    /// Classifies curl's exit codes. Source: curl(1), "Exit codes".
    fileprivate init(code end: ToolRun.End, _ error: String?) {
        let message = String((error ?? "curl ended without a response (\(end))").prefix(500))
        switch end {
        case .exited(1), .exited(3): self.init(.unsupported, message)
        case .exited(23): self.init(.diskFull, message)
        case .exited(60), .exited(51): self.init(.toolFailed, message)
        case .exited: self.init(.network, message)
        case .killed(let signal): self.init(.aborted, "curl was ended by signal \(signal)")
        }
    }
}
