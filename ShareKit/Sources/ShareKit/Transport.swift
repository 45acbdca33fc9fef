public import Foundation

/// A request to the server of a profile.
public struct TransportRequest: Sendable, Hashable {
    /// The method, such as `GET`.
    public var method: String
    /// With the query: `/history?limit=20`.
    public var path: String
    /// The header fields, by name.
    public var fields: [String: String]
    /// The content, if there is any.
    public var body: Data?

    /// Creates a request.
    public init(method: String = "GET", path: String, fields: [String: String] = [:], body: Data? = nil) {
        (self.method, self.path, self.fields, self.body) = (method, path, fields, body)
    }
}

/// What the server answered.
public struct TransportAnswer: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// The value of `Retry-After`, if there is one.
    public var retryAfter: String?
    /// The content.
    public var body: Data

    /// Creates an answer.
    public init(status: Int, retryAfter: String? = nil, body: Data) {
        (self.status, self.retryAfter, self.body) = (status, retryAfter, body)
    }
}

/// Sends requests. It trusts the root certificate of the profile and no other, follows no redirects, and gives up after 10 s and
/// at answers of more than 4 MiB.
public protocol Transport: Sendable {
    /// - Throws: `ShareError` `unreachable`, `timedOut`, `untrusted` or `foreign`.
    func send(_ request: TransportRequest, to profile: ServerProfile) async throws(ShareError) -> TransportAnswer
}

/// The limits of each request.
enum TransportLimits {
    static let secondsMax = 10
    static let bytesMax = 1 << 22
}

#if os(Linux)
/// The transport for this system.
public typealias SystemTransport = CurlTransport
#else
/// The transport for this system.
public typealias SystemTransport = URLSessionTransport
#endif
