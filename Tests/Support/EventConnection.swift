import Foundation

/// A listener to server-sent events. HTML, "Server-sent events": fields are lines, an empty line ends an event.
package final class EventConnection {
    /// An event as it came.
    package struct Event: Sendable {
        package let name: String
        package let data: String
        package let id: String?

        /// The data as JSON; empty when it is none.
        package var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any]) ?? [:]
        }
    }
    package let head: HTTPAnswer
    private let connection: HTTPConnection
    private var lines: [String] = []
    private var rest = ""

    /// - Parameter lastID: The id of the last event that was received on another connection.
    package init(port: Int, lastID: String? = nil) throws {
        connection = try HTTPConnection(port: port)
        let fields = lastID.map { [("Last-Event-ID", $0)] } ?? []
        try connection.send(request("GET", "/api/events", host: "localhost:\(port)", fields))
        head = try connection.readAnswerHead()
    }

    /// The next event; `nil` at the end of the stream. Comments and the delay of reconnection are passed over.
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

    /// The first event that satisfies `condition`; `nil` when the stream ends before.
    package func next(where condition: (Event) -> Bool) throws -> Event? {
        while let event = try next() { if condition(event) { return event } }
        return nil
    }

    /// Goes away without a word.
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
