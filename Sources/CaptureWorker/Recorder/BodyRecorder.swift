import ArchiveStore
import Foundation
import Synchronization
import WebArchive

/// Stores the bodies of responses, each in a file.
///
/// A body is taken from the browser as a stream (`Fetch.takeResponseBodyAsStream`), so that its size has a limit, and then given to
/// the page. Bodies that have no end (server-sent events) or are large go to the page as they are: large ones are fetched again.
struct BodyRecorder: Sendable {
    let session: WorkerSession
    let book: ExchangeBook
    private let state = Shared()

    /// The size of a body above which it's fetched again by curl, whole.
    static let bytesMax = 25_000_000
    /// Seconds after which a body without new bytes ends.
    private static let silenceMax: Double = 10
    /// Seconds after which a body ends that comes slowly.
    private static let secondsMax: Double = 30
    /// Sizes of reads. The browser answers when it has all, so that the first are small: what it holds back is lost when a
    /// body has no end.
    private static let pieceSizes = [1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10]

    private final class Shared: Sendable {
        /// What is fetched again, and the heads of documents.
        struct State {
            var again: [(paused: Fetch.Paused, sent: [String: String])] = []
            var documents: [String: (url: String, head: ResponseHead, sent: [String: String])] = [:]
        }
        let state = Mutex(State())
    }

    /// Returns the last response to a navigation; `nil` if there was none.
    func document(_ id: String) -> ResponseHead? { state.state.withLock { $0.documents[id]?.head } }

    /// Returns the URL of the last response to a navigation.
    func documentURL(_ id: String) -> String? { state.state.withLock { $0.documents[id]?.url } }

    /// Returns the header fields of the last request of a navigation, without cookies.
    func documentFields(_ id: String) -> [String: String] { state.state.withLock { $0.documents[id]?.sent ?? [:] } }

    /// What is done with a response.
    private enum Treatment {
        case refuse, pass, withoutBody, again, take
    }

    /// Records a paused response, and lets it through.
    ///
    /// - Throws: `BrowserEnd`; an error of writing the file.
    func record(_ paused: Fetch.Paused, over connection: BrowserConnection, in target: String?) async throws {
        do {
            try await record(paused, connection, target)
        } catch is BrowserRefusal {
            // The page isn't interested anymore or is gone, or the site sent what the browser doesn't take back.
            for command in ["Fetch.continueRequest", "Fetch.failRequest"] {
                try connection.send(command, Fetch.Failed(requestId: paused.requestId), session: target)
            }
            book.end(paused.networkId ?? "")
        } catch is CancellationError {
        }
    }

    private func record(_ paused: Fetch.Paused, _ connection: BrowserConnection, _ target: String?) async throws {
        let id = Fetch.ID(requestId: paused.requestId)
        if paused.resourceType == "Document", let network = paused.networkId, paused.responseStatusCode != nil {
            state.state.withLock {
                $0.documents[network] = (paused.request.url, ResponseHead(paused, nil), paused.request.headers)
            }
        }
        let treatment = treatment(of: paused)
        if treatment == .pass {
            try await connection.call("Fetch.continueRequest", id, session: target)
            return
        }
        guard treatment != .refuse, let hop = book.begin(paused) else {
            try await connection.call("Fetch.failRequest", Fetch.Failed(requestId: paused.requestId), session: target)
            return
        }
        let time = try CaptureTimestamp.now()
        let sent = try await requestBody(of: paused, connection, target)
        switch treatment {
        case .again:
            // A player reads on only when it needs more.
            if paused.resourceType == "Media" { book.leaveOpen(paused.networkId) }
            let fields = book.fields(of: paused, hop: hop)
            state.state.withLock { $0.again.append((paused, fields)) }
            try await connection.call("Fetch.continueRequest", id, session: target)
        case .withoutBody:
            book.add(paused, hop: hop, at: time, requestBody: sent, body: nil, truncated: nil)
            try await connection.call("Fetch.continueRequest", id, session: target)
        default:
            let body = try await takeBody(of: paused, connection, target)
            let (file, truncated) = (body.size > 0 ? body.path : nil, body.truncated)
            if truncated == "length", paused.request.method == "GET" {
                let fields = book.fields(of: paused, hop: hop)
                state.state.withLock { $0.again.append((paused, fields)) }
            } else {
                book.add(paused, hop: hop, at: time, requestBody: sent, body: file, truncated: truncated)
            }
            try await connection.fulfill(
                Fetch.Fulfilled(
                    requestId: paused.requestId, responseCode: paused.responseStatusCode ?? 200,
                    responsePhrase: paused.responseStatusText.flatMap { $0.isEmpty ? nil : $0 },
                    responseHeaders: paused.responseHeaders ?? []), body: file, session: target)
            book.noteActivity()
        }
    }

    private func treatment(of paused: Fetch.Paused) -> Treatment {
        let url = paused.request.url
        guard ExchangeBook.isWeb(url) else {
            return url.hasPrefix("data:") || url.hasPrefix("blob:") ? .pass : .refuse
        }
        // Not sent yet, or failed
        guard let status = paused.responseStatusCode, status >= 200 else { return book.isClosed ? .refuse : .pass }
        // Of the guard, which refuses the host
        if paused.field("proxy-status")?.hasPrefix("replayhost; error=") == true { return .refuse }
        let isGet = paused.request.method == "GET"
        if ["HEAD", "OPTIONS"].contains(paused.request.method) || status == 304 { return .pass }
        // Chromium's own answer for a host that it knows to use https only
        if status == 307, paused.field("non-authoritative-reason") != nil { return .pass }
        if [204, 205].contains(status) { return .withoutBody }
        if (300..<400).contains(status), paused.field("location") != nil { return .withoutBody }
        if status == 206 { return isGet ? .again : .pass }
        let type = paused.field("content-type")?.lowercased() ?? ""
        if type.hasPrefix("text/event-stream") || type.hasPrefix("multipart/x-mixed-replace") {
            book.leaveOpen(paused.networkId)
            return .pass
        }
        if isGet, let size = paused.field("content-length").flatMap({ Int($0) }), size > Self.bytesMax { return .again }
        return .take
    }

    private struct Body {
        let path: String
        var size = 0
        var truncated: String?
    }

    /// Reads a body into a file.
    private func takeBody(
        of paused: Fetch.Paused, _ connection: BrowserConnection, _ target: String?
    ) async throws -> Body {
        let stream = try await connection.call(
            "Fetch.takeResponseBodyAsStream", Fetch.ID(requestId: paused.requestId), session: target,
            as: Fetch.Stream.self
        ).stream
        var body = Body(path: "\(session.output)/body-\(book.nextFile())")
        let file = try Descriptor(path: body.path, flags: O_WRONLY | O_CREAT | O_TRUNC)
        let start = ContinuousClock.now
        var reads = 0
        while true {
            let size = Self.pieceSizes[min(reads / 4, Self.pieceSizes.count - 1)]
            reads += 1
            let piece = await Deadline.run(seconds: min(Self.silenceMax, max(0.1, book.secondsLeft))) {
                await Result<IO.Piece, any Error>.catching {
                    try await connection.call(
                        "IO.read", IO.Read(handle: stream, size: size), session: target, as: IO.Piece.self)
                }
            }
            guard let piece else {
                body.truncated = "time"
                break
            }
            guard case .success(let piece) = piece else {
                // The browser gave up: the connection ended.
                if case .failure(let error) = piece, !(error is BrowserRefusal) { throw error }
                body.truncated = "disconnect"
                break
            }
            let bytes = try piece.bytes()
            try bytes.withUnsafeBytes { try file.append($0) }
            body.size += bytes.count
            if piece.eof { break }
            if !book.count(bytes.count) || body.size > Self.bytesMax { body.truncated = "length" }
            if start.duration(to: .now) > .seconds(Self.secondsMax) { body.truncated = "time" }
            if body.truncated != nil { break }
        }
        try connection.send("IO.close", ["handle": stream], session: target)
        // What the browser decoded can have any size.
        if body.truncated == nil, paused.field("content-encoding") == nil,
            let size = paused.field("content-length").flatMap({ Int($0) }), body.size < size
        {
            body.truncated = "disconnect"
        }
        return body
    }

    /// Returns what was sent with a request.
    private func requestBody(
        of paused: Fetch.Paused, _ connection: BrowserConnection, _ target: String?
    ) async throws -> [UInt8] {
        guard paused.request.hasPostData == true else { return [] }
        let parts = paused.request.postDataEntries ?? []
        if !parts.isEmpty, parts.allSatisfy({ $0.bytes != nil }) {
            return parts.flatMap { $0.bytes.flatMap { Data(base64Encoded: $0) } ?? Data() }
        }
        guard let id = paused.networkId else { return [] }
        do {
            let answer = try await connection.call(
                "Network.getRequestPostData", Network.ID(requestId: id), session: target, as: Network.PostData.self)
            let isCoded = answer.base64Encoded == true
            return Array(isCoded ? Data(base64Encoded: answer.postData) ?? Data() : Data(answer.postData.utf8))
        } catch is BrowserRefusal {
            session.log.add("what was sent to \(paused.request.url) isn't known")
            return []
        }
    }

    /// Fetches what the browser didn't give, whole.
    func fetchAgain() async {
        guard let curl = session.order.tools.curl else { return }
        var fetched: Set<String> = []
        for (paused, sent) in state.state.withLock({ $0.again }) {
            let url = ExchangeBook.withoutFragment(paused.request.url)
            guard fetched.insert(url).inserted, !Task.isCancelled else { continue }
            do {
                let run = CurlRun(
                    session: session, curl: curl, fields: sent, bytesMax: book.bytesLeft,
                    seconds: max(10, book.secondsLeft))
                let exchange = try await run.fetch(url, name: "again-\(book.nextFile())")
                let size = Folder.fileSize(exchange.body) ?? 0
                _ = book.count(Int(clamping: size))
                guard exchange.head.status == 200 else {
                    session.log.add("\(url): the second answer is \(exchange.head.status)")
                    continue
                }
                book.add(
                    RecordedExchange(
                        url: url, method: "GET", resourceType: paused.resourceType.lowercased(), time: try .now(),
                        request: exchange.request, requestBody: [], head: exchange.head,
                        body: size > 0 ? exchange.body : nil, isDecoded: false,
                        truncated: exchange.isCut ? "length" : nil))
            } catch {
                session.log.add("\(url) can't be fetched whole: \((error as? ToolFailure)?.message ?? "\(error)")")
            }
        }
    }
}

extension Result where Failure == any Error {
    fileprivate static func catching(_ body: () async throws -> Success) async -> Self {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
