import ArchiveStore
import Hummingbird
import WebArchive

extension CaptureList.Request {
    /// Parses the query of a list of captures. Documented in `docs/json.md`.
    ///
    /// - Throws: `ErrorResponse` that names the missing or invalid parameter.
    init(query: Parameters) throws {
        let url = try ListParameters.url(in: query)
        let limit = try ListParameters.number("limit", in: query, default: 100, allowed: 1...1000)
        let given = ["closest", "before", "after"].filter { query[Substring($0)] != nil }
        guard given.count <= 1 else {
            throw ErrorResponse.badParameter("the parameters \(given[0]) and \(given[1]) can't be used together")
        }
        // For `closest` and `after`, an incomplete time means the end of its period.
        let part: Part? =
            switch given.first {
            case "closest": query["closest"] == "" ? .around(nil) : query["closest"].flatMap { Self.end($0) }
            case "before": query["before"].flatMap { CaptureTimestamp(digits: $0) }.map { .before($0) }
            case "after": query["after"].flatMap { CaptureTimestamp(endOf: $0) }.map { .after($0) }
            default: .first
            }
        guard let part else { throw ListParameters.invalidTime(given[0], in: query) }
        self.init(url: url, part: part, limit: limit)
    }

    private static func end(_ text: Substring) -> Part? { CaptureTimestamp(endOf: text).map { .around($0) } }
}

extension Site {
    /// Responds with captures of a URL.
    func captures(
        _ request: Request, _ context: ConnectionContext, of find: @escaping @Sendable (String) throws -> Replayable
    ) async throws -> Response {
        let wanted = try CaptureList.Request(query: request.uri.queryParameters)
        return try await found(context) { try store.resolver.captures(wanted, in: find($0), isWanted: $1) }
    }

    /// Responds with the number of captures of a URL in each period.
    func captureCounts(
        _ request: Request, _ context: ConnectionContext, of find: @escaping @Sendable (String) throws -> Replayable
    ) async throws -> Response {
        let query = request.uri.queryParameters
        let url = try ListParameters.url(in: query)
        let by = query["by"] ?? "day"
        guard let period = CaptureHistogram.Period(rawValue: String(by)) else {
            throw ErrorResponse.badParameter(
                "the parameter by must be day, month or year, not \"\(by.prefix(20))\"")
        }
        return try await found(context) {
            try store.resolver.captureCounts(of: url, by: period, in: find($0), isWanted: $1)
        }
    }
}
