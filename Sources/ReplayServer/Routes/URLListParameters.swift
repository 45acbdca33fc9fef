import ArchiveStore
import Hummingbird
import WebArchive

extension URLList.Request {
    /// Parses the query of a list of URLs. Documented in `docs/json.md`.
    ///
    /// - Throws: `ErrorResponse` that names the invalid parameter.
    init(query: Parameters) throws {
        self.init(
            filter: try URLFilter(query: query),
            limit: try ListParameters.number("limit", in: query, default: 100, allowed: 1...1000))
        if let collapse = query["collapse"] {
            guard collapse == "url" else { throw Self.problem("collapse", "must be url", collapse) }
            collapsesURLs = true
        }
        if let cursor = query["cursor"], !cursor.isEmpty {
            guard let position = URLScan.Position(cursor: cursor) else {
                throw Self.problem("cursor", "isn't a cursor of a previous response", cursor)
            }
            start = position
        }
    }

    fileprivate static func problem(_ name: String, _ problem: String, _ value: Substring) -> ErrorResponse {
        ErrorResponse(
            .badRequest, code: "bad-parameter", "the parameter \(name) \(problem): \"\(value.prefix(40))\"")
    }
}

extension URLFilter {
    fileprivate init(query: Parameters) throws {
        self.init()
        text = try ListParameters.text(in: query)
        if let name = query["match"] {
            guard let wanted = Match(rawValue: String(name)) else {
                throw URLList.Request.problem("match", "must be contains, prefix, exact or pattern", name)
            }
            match = wanted
        }
        let needsHost = match == .prefix || match == .exact
        guard text.isEmpty || !needsHost || !text.allSatisfy({ "./:*".contains($0) }) else {
            throw URLList.Request.problem("q", "must begin with a host if match is \(match.rawValue)", text[...])
        }
        for name in Self.words(query["type"]) {
            guard let type = MediaClass(rawValue: String(name)) else {
                let known = MediaClass.allCases.map(\.rawValue).joined(separator: ", ")
                throw URLList.Request.problem("type", "must be from \(known)", name)
            }
            types.insert(type)
        }
        for text in Self.words(query["status"]) {
            guard let range = URLFilter.statuses(text) else {
                throw URLList.Request.problem("status", "must be a status such as 404, or a class such as 4xx", text)
            }
            statuses.append(range)
        }
        method = query["method"].flatMap { $0.isEmpty ? nil : $0.uppercased() }
        // As in a search, an incomplete time means the start of its period.
        after = try Self.time("after", query)
        before = try Self.time("before", query)
    }

    private static func words(_ list: Substring?) -> [Substring] { list?.split(separator: ",") ?? [] }

    private static func time(_ name: String, _ query: Parameters) throws -> CaptureTimestamp? {
        guard let text = query[Substring(name)], !text.isEmpty else { return nil }
        guard let time = URLFilter.time(text) else { throw ListParameters.invalidTime(name, in: query) }
        return time
    }
}

extension Site {
    /// Responds with a page of captured URLs.
    func urls(
        _ request: Request, _ context: ConnectionContext, of find: @escaping @Sendable (String) throws -> Replayable
    ) async throws -> Response {
        let wanted = try URLList.Request(query: request.uri.queryParameters)
        let name = try context.name()
        let client = try await context.watchClient()
        return try Responses.json(
            try await blocking.long {
                try store.resolver.urls(wanted, in: find(name), isWanted: { client.isThere })
            })
    }
}
