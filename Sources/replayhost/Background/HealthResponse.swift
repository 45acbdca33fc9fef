/// What a replayhost on this computer says of itself at `/api/health`.
struct HealthAnswer: Decodable {
    let status: String
    let version: String

    /// Asks on both loopback addresses.
    ///
    /// - Parameter host: The name under which it is asked; a server that does not go by it does not answer.
    /// - Returns: `nil` when nobody listens there, or somebody else does.
    static func ask(port: Int, host: String = "localhost") -> HealthAnswer? {
        let request = LoopbackRequest(path: "/api/health", port: port, host: host)
        // On one of the two loopback addresses another program may listen.
        return request.responses().lazy.compactMap(parse).first
    }

    /// The JSON object of a 200; `nil` for all else.
    static func parse(_ response: [UInt8]) -> HealthAnswer? {
        LoopbackRequest.object(HealthAnswer.self, in: response).flatMap { $0.status == "ok" ? $0 : nil }
    }
}
