import Foundation
import Synchronization
import WebArchive

/// What the browser has requested and received so far.
final class ExchangeBook: Sendable {
    private struct Hops {
        /// For each redirect and the final response, the header fields of the request as it was sent.
        var requests: [[String: String]] = []
        var responses: [Network.RespondedExtra] = []
        /// How many responses were paused.
        var paused = 0
        var url = ""
    }

    private struct State {
        var hops: [String: Hops] = [:]
        var exchanges: [RecordedExchange] = []
        /// Requests without an end, by their IDs.
        var open: Set<String> = []
        var resources: [String: PageInfo.Resource] = [:]
        /// By host and port.
        var certificates: [String: Network.Certificate] = [:]
        var bytes: UInt64 = 0
        var started = 0
        var errorCount = 0
        var files = 0
        var lastActivity = ContinuousClock.now
        var reached: RecordingLimits.Reached?
        /// Whether nothing more is recorded.
        var isClosed = false
    }
    private let state = Mutex(State())
    private let limits: RecordingLimits
    private let deadline: ContinuousClock.Instant

    init(limits: RecordingLimits) {
        self.limits = limits
        deadline = .now + .seconds(limits.seconds)
    }

    /// The limit that was reached; `nil` if there's none.
    var reached: RecordingLimits.Reached? {
        state.withLock { state in
            if state.reached == nil, !state.isClosed, ContinuousClock.now >= deadline { state.reached = .time }
            return state.reached
        }
    }

    var secondsLeft: Double {
        let left = ContinuousClock.now.duration(to: deadline)
        return max(0, Double(left.components.seconds) + Double(left.components.attoseconds) / 1e18)
    }

    var bytesLeft: UInt64 { state.withLock { limits.bytes - min(limits.bytes, $0.bytes) } }
    var bytes: UInt64 { state.withLock { $0.bytes } }
    var errorCount: Int { state.withLock { $0.errorCount } }
    /// The certificate of a host is known only after its first response was paused.
    var exchanges: [RecordedExchange] {
        state.withLock { state in
            state.exchanges.map { exchange in
                var exchange = exchange
                exchange.certificate = state.certificates[Self.origin(exchange.url)]
                return exchange
            }
        }
    }
    var resources: [String: PageInfo.Resource] { state.withLock { $0.resources } }

    /// Ends the recording because of a limit that isn't counted here.
    func end(_ limit: RecordingLimits.Reached) { state.withLock { $0.reached = $0.reached ?? limit } }

    /// Whether requests are refused now: a limit is reached, or the page is complete.
    var isClosed: Bool { reached != nil || state.withLock { $0.isClosed } }

    func close() { state.withLock { $0.isClosed = true } }

    /// Whether nothing has happened for a while. Requests that never end don't count for ever.
    var isQuiet: Bool {
        state.withLock { state in
            let silence = state.lastActivity.duration(to: .now)
            return silence > (state.open.isEmpty ? .seconds(1) : .seconds(12))
        }
    }

    func noteActivity() { state.withLock { $0.lastActivity = .now } }
    func noteError() { state.withLock { $0.errorCount += 1 } }

    func begin(_ event: Network.Requested) {
        guard Self.isWeb(event.request.url) else { return }
        state.withLock { state in
            state.open.insert(event.requestId)
            state.lastActivity = .now
            state.hops[event.requestId, default: Hops()].url = event.request.url
            let url = Self.withoutFragment(event.request.url)
            if state.resources.count < limits.exchanges * 2, state.resources[url] == nil {
                state.resources[url] = .init(type: event.type?.lowercased())
            }
        }
    }

    func add(_ event: Network.RequestedExtra) {
        state.withLock { $0.hops[event.requestId, default: Hops()].requests.append(event.headers) }
    }

    func add(_ event: Network.RespondedExtra) {
        state.withLock { $0.hops[event.requestId, default: Hops()].responses.append(event) }
    }

    func add(_ event: Network.Responded) {
        guard let certificate = event.response.securityDetails else { return }
        state.withLock { $0.certificates[Self.origin(event.response.url)] = certificate }
    }

    /// Notes the end of a request.
    ///
    /// - Parameter error: Why it failed: `net::ERR_CONNECTION_REFUSED`.
    func end(_ id: String, error: String? = nil) {
        state.withLock { state in
            state.open.remove(id)
            state.lastActivity = .now
            let hops = state.hops.removeValue(forKey: id)
            guard let error, let url = hops?.url else { return }
            state.resources[Self.withoutFragment(url)]?.error = error
        }
    }

    /// Notes that a request goes on without being waited for.
    func leaveOpen(_ id: String?) {
        if let id { state.withLock { _ = $0.open.remove(id) } }
    }

    /// Notes a response.
    ///
    /// - Returns: The number of the redirect of this request; `nil` if no more is recorded.
    func begin(_ paused: Fetch.Paused) -> Int? {
        guard !isClosed else { return nil }
        return state.withLock { state in
            state.lastActivity = .now
            guard state.started < limits.exchanges else {
                state.reached = .exchanges
                return nil
            }
            state.started += 1
            let url = Self.withoutFragment(paused.request.url)
            state.resources[url, default: .init()].status = paused.responseStatusCode
            state.resources[url]?.type = paused.resourceType.lowercased()
            state.resources[url]?.mime = paused.field("content-type").map(Self.mediaType)
            guard let id = paused.networkId else { return 0 }
            defer { state.hops[id, default: Hops()].paused += 1 }
            return state.hops[id]?.paused ?? 0
        }
    }

    /// Returns the number of a new file for a body.
    func nextFile() -> Int {
        state.withLock { state in
            state.files += 1
            return state.files
        }
    }

    /// Counts bytes of a body.
    ///
    /// - Returns: Whether more can be stored.
    func count(_ bytes: Int) -> Bool {
        state.withLock { state in
            state.lastActivity = .now
            state.bytes += UInt64(bytes)
            if state.bytes > limits.bytes { state.reached = .bytes }
            return state.bytes <= limits.bytes
        }
    }

    /// Adds an exchange.
    ///
    /// - Parameters:
    ///   - hop: The number of the redirect.
    ///   - requestBody: What was sent.
    ///   - body: The path of the body; `nil` if it's empty.
    func add(
        _ paused: Fetch.Paused, hop: Int, at time: CaptureTimestamp, requestBody: [UInt8], body: String?,
        truncated: String?
    ) {
        state.withLock { state in
            let hops = paused.networkId.flatMap { state.hops[$0] }
            let sent = hops.flatMap { $0.requests.count > hop ? $0.requests[hop] : nil }
            let received = hops.flatMap { $0.responses.count > hop ? $0.responses[hop] : nil }
            let url = Self.withoutFragment(paused.request.url)
            state.exchanges.append(
                RecordedExchange(
                    url: url, method: paused.request.method, resourceType: paused.resourceType.lowercased(), time: time,
                    request: RequestHead.bytes(
                        method: paused.request.method, url: url, fields: sent ?? paused.request.headers),
                    requestBody: requestBody, head: ResponseHead(paused, received), body: body, truncated: truncated))
        }
    }

    /// Returns the header fields of a request as it was sent.
    func fields(of paused: Fetch.Paused, hop: Int) -> [String: String] {
        state.withLock { state in
            let sent = paused.networkId.flatMap { state.hops[$0]?.requests } ?? []
            return sent.count > hop ? sent[hop] : paused.request.headers
        }
    }

    /// Adds an exchange of another tool.
    func add(_ exchange: RecordedExchange) { state.withLock { $0.exchanges.append(exchange) } }

    static func isWeb(_ url: String) -> Bool {
        let start = url.prefix(8).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }

    static func withoutFragment(_ url: String) -> String { String(url.prefix { $0 != "#" }) }

    /// The scheme, host and port of a URL.
    private static func origin(_ url: String) -> String {
        url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
    }

    private static func mediaType(_ field: String) -> String {
        field.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }
}
