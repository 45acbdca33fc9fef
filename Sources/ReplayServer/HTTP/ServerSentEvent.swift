package import HTTPTypes

/// The texts of a stream of server-sent events. Source: HTML, "Server-sent events".
package enum ServerSentEvent {
    /// The first line of a stream: after how many milliseconds a client connects again.
    package static let start = "retry: 1000\n\n"
    /// A comment, so that neither side takes a silent connection for a broken one.
    package static let keepAlive = ": keep-alive\n\n"

    /// - Parameters:
    ///   - data: A single line.
    ///   - id: What the client sends as `Last-Event-ID` from now on; `nil` for the same as before.
    package static func text(_ name: String, data: String, id: String?) -> String {
        "event: \(name)\n\(id.map { "id: \($0)\n" } ?? "")data: \(data)\n\n"
    }

    /// The header fields of a stream.
    package static let fields: HTTPFields = SecurityHeaders.common.adding([
        .contentType: "text/event-stream", .contentSecurityPolicy: SecurityHeaders.inert, .cacheControl: "no-store",
    ])
}
