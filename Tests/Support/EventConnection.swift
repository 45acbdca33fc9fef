import Foundation

/// A client for server-sent events. HTML, "Server-sent events": fields are lines, and an empty line ends an event.
package final class EventConnection {
    /// A received event.
    package struct Event: Sendable {
        package let name: String
        package let data: String
        package let id: String?

        /// The data as a JSON object; empty if it isn't one.
        package var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any]) ?? [:]
        }
    }
    package let head: HTTPAnswer
    private let connection: HTTPConnection
    private var lines: [String] = []
    private var rest = ""

    /// - Parameter lastID: The ID of the last event received on another connection.
    package init(port: Int, lastID: String? = nil) throws {
        connection = try HTTPConnection(port: port)
        let fields = lastID.map { [("Last-Event-ID", $0)] } ?? []
        try connection.send(request("GET", "/api/events", host: "localhost:\(port)", fields))
        head = try connection.readAnswerHead()
    }

    /// Returns the next event, or `nil` at the end of the stream. Skips comments and the reconnection delay.
    package func next() throws -> Event? {
        var fields: [String: String] = [:]
        while let line = try nextLine() {
            if line.isEmpty {
                if let name = fields["event"], let data = fields["data"] {
                    return Event(name: name, data: data, id: fields["id"])
                }
                fields = [:]
            } else if let colon = line.firstIndex(of: ":"), colon != line.startIndex {
                fields[String(line[..<colon])] = String(line[line.index(colon, offsetBy: 2)...])
            }
        }
        return nil
    }

    /// Returns the first event that satisfies `condition`, or `nil` if the stream ends before.
    package func next(where condition: (Event) -> Bool) throws -> Event? {
        while let event = try next() { if condition(event) { return event } }
        return nil
    }

    /// Resets the connection.
    package func abort() { connection.abort() }

    private func nextLine() throws -> String? {
        while lines.isEmpty {
            guard let chunk = try connection.readChunk() else { return nil }
            let text = rest + String(decoding: chunk, as: UTF8.self)
            var parts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            rest = parts.removeLast()
            lines = parts
        }
        return lines.removeFirst()
    }
}
