import ArchiveStore
import CaptureAPI
import CaptureServer
import CommandSupport
import Foundation

/// Calls the running capture server of a store.
struct CaptureClient {
    let port: Int
    /// The administrator's token.
    private let token: String

    /// - Returns: `nil` when none runs.
    init?(_ common: CommonOptions) throws {
        let layout = StoreLayout(root: common.location.path)
        guard let running = try RunningServer(at: layout.captureServerFile) else { return nil }
        (port, token) = (running.server.port, running.server.token)
    }

    /// - Throws: `CommandError` when none runs.
    static func running(_ common: CommonOptions) throws -> CaptureClient {
        if let client = try CaptureClient(common) { return client }
        throw CommandError(
            .failed, code: "not-running", "no capture server is running",
            hint: "start it with `replayhost-capture serve`")
    }

    /// Sends a request, and decodes the answer.
    ///
    /// - Throws: `CommandError` for an error answer, and if the server doesn't respond.
    func call<Value: Decodable>(
        _ type: Value.Type, _ method: String, _ path: String, body: [UInt8] = [], fields: [(String, String)] = [],
        isAdministrator: Bool = false, secondsMax: Int = secondsMax
    ) throws -> Value {
        let content =
            (body.isEmpty ? [] : [("Content-Type", "application/json")])
            + (isAdministrator ? [("Authorization", "Bearer \(token)")] : [])
        let request = LoopbackRequest(
            method: method, path: path, port: port, fields: (content + fields).map { (name: $0.0, value: $0.1) },
            body: body, secondsMax: secondsMax)
        // Only the first address that accepts the connection: a request must not be sent twice.
        guard let response = request.responses().first(where: { _ in true }),
            let end = response.firstRange(of: Array("\r\n\r\n".utf8)), response.starts(with: Array("HTTP/1.1 ".utf8)),
            let status = Int(String(decoding: response[9..<12], as: UTF8.self))
        else {
            throw CommandError(.failed, code: "no-answer", "the capture server doesn't respond", place: "port \(port)")
        }
        let data = Data(response[end.upperBound...])
        guard (200..<300).contains(status) else { throw Self.failure(status, data) }
        return try JSONDecoder().decode(Value.self, from: data)
    }

    /// A removal of a large archive can take a while.
    private static let secondsMax = 60

    private static func failure(_ status: Int, _ data: Data) -> CommandError {
        guard let error = try? JSONDecoder().decode(CaptureError.self, from: data) else {
            return CommandError(.failed, code: "http-\(status)", "the capture server answered \(status)")
        }
        let exits: [Int: ExitStatus] = [404: .notFound, 400: .usage, 503: .keptForLater]
        let exit = exits[status] ?? .failed
        var place: String?
        if case .problems(let problems) = error.detail {
            place = problems.first?.loc.dropFirst().joined(separator: ".")
        }
        return CommandError(exit, code: error.error, error.message, place: place)
    }
}

extension QueueReader {
    /// Returns the download whose ID begins with a text.
    ///
    /// - Throws: `CommandError` if there is none, or several.
    static func download(_ prefix: String, _ common: CommonOptions) throws -> DownloadRow {
        let reader = try QueueReader(layout: StoreLayout(root: common.location.path))
        let rows = try reader?.downloads(withPrefix: prefix) ?? []
        guard let row = rows.first else {
            throw CommandError(
                .notFound, code: "not-found", "no download has the ID \"\(prefix)\"",
                hint: "run `replayhost-capture list` to see all downloads")
        }
        guard rows.count == 1 else {
            throw CommandError(
                .notFound, code: "ambiguous-id", "several downloads have IDs that begin with \"\(prefix)\"",
                hint: "give more of the ID")
        }
        return row
    }
}
