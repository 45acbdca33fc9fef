import CommandSupport

/// The response of a replayhost server at `/api/health`.
struct HealthResponse: Decodable {
    let status: String
    let version: String

    /// Requests `/api/health` on both loopback addresses.
    ///
    /// - Parameter host: The host name of the request. Servers respond only to names that they use.
    /// - Returns: `nil` when no replayhost server responds.
    static func request(port: Int, host: String = "localhost") -> HealthResponse? {
        let request = LoopbackRequest(path: "/api/health", port: port, host: host)
        // Another program may listen on one of the two addresses.
        return request.responses().lazy.compactMap(parse).first
    }

    /// Parses a response with status 200; `nil` for any other.
    static func parse(_ response: [UInt8]) -> HealthResponse? {
        LoopbackRequest.object(HealthResponse.self, in: response).flatMap { $0.status == "ok" ? $0 : nil }
    }
}
