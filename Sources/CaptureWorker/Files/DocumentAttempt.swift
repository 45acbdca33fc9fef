import ArchiveStore
import CaptureAPI
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Fetches a document with curl, one redirect after the other, and keeps what was sent and received.
struct DocumentAttempt {
    let session: WorkerSession

    /// A request and its response.
    struct Exchange: Sendable {
        let url: String
        /// The request as it was sent, up to and including the empty line.
        let request: [UInt8]
        let head: ResponseHead
        /// The path of the body, without transfer coding.
        let body: String
        let ipAddress: String?
    }

    /// A document with the redirects that led to it.
    struct Files {
        let exchanges: [Exchange]
        let genre: Genre
        let mediaType: String

        var path: String { exchanges[exchanges.count - 1].body }
    }

    /// What a URL turned out to be.
    enum Outcome {
        case document(Files)
        /// Something else than a document, of this media type. The body wasn't read.
        case other(mediaType: String)
    }

    private static let redirectsMax = 10

    /// Fetches the URL.
    ///
    /// - Throws: `ToolFailure`.
    func run() async throws -> Outcome {
        guard let curl = session.order.tools.curl else {
            throw ToolFailure(.toolMissing, "curl isn't installed; run `make setup-capture`")
        }
        var exchanges: [Exchange] = []
        var url = session.order.url
        while exchanges.count <= Self.redirectsMax {
            guard let current = WebURL(url) else {
                throw ToolFailure(.unsupported, "a redirect leads to a URL that can't be saved")
            }
            let exchange = try await fetch(url, number: exchanges.count, with: curl)
            exchanges.append(exchange)
            if let location = exchange.head.location {
                url = try Self.resolve(location, at: url)
                session.log.add("redirected to \(url)")
                continue
            }
            try Self.check(exchange.head)
            let type = exchange.head.mediaType
            guard let genre = Genre(of: exchange.head, at: current) else { return .other(mediaType: type) }
            try check(exchange.body, genre)
            return .document(Files(exchanges: exchanges, genre: genre, mediaType: type))
        }
        throw ToolFailure(.network, "the site redirects more than \(Self.redirectsMax) times")
    }

    /// Sends one request. The body of a page isn't read.
    private func fetch(_ url: String, number: Int, with curl: String) async throws -> Exchange {
        let (head, body) = ("\(session.parts)/\(number).head", "\(session.output)/\(number).body")
        for path in [head, body] { try Folder.delete(path) }
        let arguments = arguments(url, head: head, body: body)
        session.log.add("curl " + arguments.joined(separator: " "))
        let read = Mutex(CurlOutput())
        let end: ToolRun.End
        do {
            end = try await session.run(curl, arguments) { stream, line in
                let event = read.withLock { $0.read(line, from: stream) }
                if case .log(let text) = event { session.log.add(text, from: "curl") }
                // Decided once the whole head was read.
                if case .headEnd = event, let head = ResponseHead(path: head), head.isOther(at: url) {
                    throw NotADocument()
                }
            } progress: {
                Self.progress(head: head, body: body)
            }
        } catch is NotADocument {
            end = .exited(0)
        }
        let output = read.withLock { $0 }
        guard end == .exited(0), let received = ResponseHead(path: head) else {
            throw ToolFailure(code: end, output.error)
        }
        if !Folder.exists(body) { _ = try Descriptor(path: body, flags: O_WRONLY | O_CREAT) }
        return Exchange(
            url: url, request: output.request, head: received, body: body, ipAddress: session.egress.address(of: url))
    }

    private struct NotADocument: Error {}

    private func arguments(_ url: String, head: String, body: String) -> [String] {
        [
            // Without the person's .curlrc
            "--disable", "--silent", "--show-error", "--verbose", "--globoff", "--path-as-is", "--http1.1",
            "--proto", "=http,https", "--connect-timeout", "30", "--speed-limit", "1", "--speed-time", "50",
            "--user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            "--header", "Accept: text/html,application/xhtml+xml,application/pdf,application/epub+zip,*/*;q=0.8",
            "--header", "Accept-Language: en;q=0.8,*;q=0.5", "--dump-header", head, "--output", body,
            // A tunnel for http too, so that the request is the one that the site gets
            "--proxy", session.proxy, "--noproxy", "", "--proxytunnel", "--suppress-connect-headers",
        ] + (session.order.hasCookies ? ["--cookie", "\(session.folder)/\(SessionFile.cookies)"] : []) + [
            "--", url,
        ]
    }

    private static func progress(head: String, body: String) -> DownloadProgress? {
        guard let bytes = Folder.fileSize(body) else { return nil }
        let total = ResponseHead(path: head)?.contentLength
        let percent = total.flatMap { $0 > 0 ? min(100, (Double(bytes) / Double($0) * 1000).rounded() / 10) : nil }
        return DownloadProgress(percent: percent, bytes: bytes, total: total)
    }

    private static func check(_ head: ResponseHead) throws {
        let line = "the site answered \(head.status)"
        switch head.status {
        case 200: return
        case 401, 407: throw ToolFailure(.loginRequired, line)
        case 404, 410: throw ToolFailure(.notFound, line)
        case 429, 503:
            throw ToolFailure(
                .rateLimited, line, retryAfterSeconds: head["retry-after"].flatMap { RetryAfter.seconds($0) })
        case 451: throw ToolFailure(.geoBlocked, line)
        case 500...: throw ToolFailure(.network, line)
        default: throw ToolFailure(.toolFailed, line)
        }
    }

    /// Whether the body is what its type says: error pages are often sent as 200.
    private func check(_ path: String, _ genre: Genre) throws {
        let file = try Descriptor(path: path, flags: O_RDONLY)
        let start = try file.bytes(at: 0, upTo: 1024)
        guard !start.isEmpty else { throw ToolFailure(.noFile, "the site sent an empty file") }
        let text = String(decoding: start, as: UTF8.self)
        let isExpected =
            genre == .pdf
            ? text.contains("%PDF-") : !text.lowercased().drop(while: \.isWhitespace).hasPrefix("<!doctype html")
        guard isExpected else { throw ToolFailure(.damaged, "the file isn't a \(genre == .pdf ? "PDF" : "book")") }
    }

    /// Resolves a `Location`. RFC 3986 §5.2.
    private static func resolve(_ location: String, at base: String) throws -> String {
        guard let url = URL(string: location, relativeTo: URL(string: base)) else {
            throw ToolFailure(.network, "the site redirects to an invalid URL")
        }
        return url.absoluteString
    }
}

extension Genre {
    /// Returns the genre of a response; `nil` if it isn't a document.
    ///
    /// A URL that ends in `.pdf` is believed if the response has no more than a general type.
    fileprivate init?(of head: ResponseHead, at url: WebURL) {
        if let genre = Genre(mediaType: head.mediaType) {
            self = genre
            return
        }
        let genre = Genre(of: url)
        let general = [
            "", "application/octet-stream", "binary/octet-stream", "application/zip", "application/force-download",
        ]
        guard genre.isDocument, general.contains(head.mediaType) else { return nil }
        self = genre
    }
}

extension ResponseHead {
    /// Whether the body needn't be read, because it isn't a document.
    fileprivate func isOther(at url: String) -> Bool {
        guard location == nil, status == 200, let url = WebURL(url) else { return false }
        return Genre(of: self, at: url) == nil
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
