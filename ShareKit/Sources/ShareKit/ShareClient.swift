public import CaptureAPI
import Foundation

/// Requests to one server.
public struct ShareClient: Sendable {
    private let profile: ServerProfile
    private let key: String?
    private let transport: any Transport

    /// Creates a client of a server.
    public init(profile: ServerProfile, key: String?, transport: any Transport) {
        (self.profile, self.key, self.transport) = (profile, key, transport)
    }

    /// What came back for a share.
    public enum Outcome: Sendable, Hashable {
        case confirmed(downloadID: String)
        /// The server can never accept it.
        case refused(message: String)
        /// It stays in the queue.
        ///
        /// - Parameter seconds: For which the server asks to wait; 0 if it doesn't say.
        case postponed(Share.Reason, seconds: Int, message: String)
    }

    /// Sends a share. Its ID is the `Idempotency-Key`, so that the server saves it once, however often it's sent.
    public func submit(_ share: Share) async -> Outcome {
        struct Body: Encodable {
            var url: String
            var username: String?
            var options: DownloadOptions?
        }
        let body = Data(
            DownloadOptions.json(of: Body(url: share.url, username: share.username, options: share.options)).utf8)
        let request = request(
            "POST", "/download", body: body, fields: ["Idempotency-Key": share.id.uuidString.lowercased()])
        do {
            let answer = try await transport.send(request, to: profile)
            return Self.outcome(of: answer)
        } catch {
            return .postponed(
                error.code == .untrusted ? .untrusted : error.code == .foreign ? .foreign : .unreachable,
                seconds: 0, message: error.details)
        }
    }

    private static func outcome(of answer: TransportAnswer) -> Outcome {
        if (200..<300).contains(answer.status) {
            struct Receipt: Decodable {
                var download_id: String
            }
            guard let receipt = try? JSONDecoder().decode(Receipt.self, from: answer.body) else {
                return .postponed(.foreign, seconds: 0, message: "")
            }
            return .confirmed(downloadID: receipt.download_id)
        }
        guard let error = failure(in: answer) else { return .postponed(.foreign, seconds: 0, message: "") }
        let seconds = seconds(retryAfter: answer.retryAfter, now: Date())
        switch answer.status {
        case 400, 409, 413, 415, 422: return .refused(message: error.message)
        case 401: return .postponed(.key, seconds: 0, message: error.message)
        case 403, 421: return .postponed(.forbidden, seconds: 0, message: error.message)
        case 429: return .postponed(.rateLimited, seconds: max(seconds, 1), message: error.message)
        case 500...: return .postponed(.failed, seconds: seconds, message: error.message)
        default: return .postponed(.foreign, seconds: 0, message: error.message)
        }
    }

    /// Returns the error of an answer; `nil` if it isn't one of the capture server.
    private static func failure(in answer: TransportAnswer) -> Failure? {
        guard let error = try? JSONDecoder().decode(Failure.self, from: answer.body), !error.success else { return nil }
        return error
    }

    private struct Failure: Decodable {
        var success: Bool
        var error: String
        var message: String
    }

    static let retryAfterSecondsMax = 86_400.0

    /// Returns the seconds of a `Retry-After` field, which are at most a day; 60 if it says nothing. RFC 9110 §10.2.3.
    static func seconds(retryAfter field: String?, now: Date) -> Int {
        guard let field else { return 60 }
        if let seconds = Int(field), seconds >= 0 { return min(seconds, Int(retryAfterSecondsMax)) }
        let format = DateFormatter()
        (format.locale, format.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(identifier: "GMT"))
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard let seconds = format.date(from: field)?.timeIntervalSince(now) else { return 60 }
        return Int(min(max(seconds.rounded(.up), 0), retryAfterSecondsMax))
    }

    /// Whether the server responds.
    public func responds() async -> Bool { (try? await health()) != nil }

    /// `GET /health`, of which every client gets these parts.
    ///
    /// - Throws: `ShareError`, as the others do.
    public func health() async throws(ShareError) -> PublishedHealth {
        let health = try await get(PublishedHealth.self, "/health")
        guard health.status == "healthy" else { throw ShareError(.server, health.status) }
        return health
    }

    /// `GET /config/connection`. It needs the key.
    public func connection() async throws(ShareError) -> ConnectionInfo {
        try await get(ConnectionInfo.self, "/config/connection")
    }

    /// `GET /status/{id}`
    public func status(of id: String) async throws(ShareError) -> Download {
        try await get(Download.self, "/status/\(Self.escaped(id))")
    }

    /// A download while a person watches it: asked for every 2 seconds, until it has ended.
    public func updates(of id: String) -> DownloadUpdates { DownloadUpdates(client: self, id: id) }

    /// `GET /history`, the newest first.
    ///
    /// - Parameter limit: From 1 to 100.
    public func history(
        limit: Int = 20, offset: Int = 0, status: DownloadStatus? = nil, query: String? = nil
    ) async throws(ShareError) -> [Download] {
        var path = "/history?limit=\(limit)&offset=\(offset)"
        if let status { path += "&status=\(status.rawValue)" }
        if let query { path += "&q=\(Self.escaped(query))" }
        return try await get([Download].self, path)
    }

    /// `POST /download/{id}/cancel`
    public func cancel(_ id: String) async throws(ShareError) {
        _ = try await value(Data.self, request("POST", "/download/\(Self.escaped(id))/cancel", body: Data()))
    }

    /// `POST /download/{id}/retry`
    public func retry(_ id: String) async throws(ShareError) {
        _ = try await value(Data.self, request("POST", "/download/\(Self.escaped(id))/retry", body: Data()))
    }

    /// `GET /download/{id}/log`: a page of its lines.
    public func log(of id: String, offset: Int = 0, limit: Int = 20) async throws(ShareError) -> LogPage {
        try await get(LogPage.self, "/download/\(Self.escaped(id))/log?offset=\(offset)&limit=\(limit)")
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(["-"])) ?? ""
    }

    private func request(
        _ method: String, _ path: String, body: Data? = nil, fields: [String: String] = [:]
    ) -> TransportRequest {
        var fields = fields
        if body != nil { fields["Content-Type"] = "application/json" }
        if let key { fields["Authorization"] = "Bearer \(key)" }
        return TransportRequest(method: method, path: path, fields: fields, body: body)
    }

    private func get<Value: Decodable>(_ type: Value.Type, _ path: String) async throws(ShareError) -> Value {
        try await value(type, request("GET", path))
    }

    private func value<Value: Decodable>(
        _ type: Value.Type, _ request: TransportRequest
    ) async throws(ShareError) -> Value {
        let answer = try await transport.send(request, to: profile)
        if (200..<300).contains(answer.status) {
            if let data = answer.body as? Value { return data }
            guard let value = try? JSONDecoder().decode(type, from: answer.body) else { throw ShareError(.foreign) }
            return value
        }
        guard let error = Self.failure(in: answer) else { throw ShareError(.foreign) }
        switch answer.status {
        case 401: throw ShareError(.key, error.message)
        case 403, 421: throw ShareError(.forbidden, error.message)
        case 404: throw ShareError(.notFound)
        case 429: throw ShareError(.rateLimited, error.message)
        case 500...: throw ShareError(.server, error.message)
        default: throw ShareError(.refused, error.message)
        }
    }
}

/// The states of a download, from `ShareClient.updates(of:)`. It throws `ShareError` and `CancellationError`.
public struct DownloadUpdates: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let client: ShareClient
    let id: String
    private var last: Download?

    init(client: ShareClient, id: String) { (self.client, self.id) = (client, id) }

    /// Returns itself.
    public func makeAsyncIterator() -> DownloadUpdates { self }

    /// Asks for the download. The second time, it waits 2 seconds first.
    public mutating func next() async throws -> Download? {
        if let last {
            if last.state.hasEnded || last.state == .previewReady { return nil }
            try await Task.sleep(nanoseconds: 2_000_000_000)
        }
        last = try await client.status(of: id)
        return last
    }
}
