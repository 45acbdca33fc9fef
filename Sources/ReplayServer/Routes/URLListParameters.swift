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
        collapsesURLs = try ListParameters.collapsesURLs(in: query)
        order = try ListParameters.choice("sort", in: query) ?? .url
        if let cursor = query["cursor"], !cursor.isEmpty {
            guard let position = URLScan.Position(cursor: cursor) else {
                throw Self.problem("cursor", "isn't a cursor of a previous response", cursor)
            }
            start = position
        }
    }

    fileprivate static func problem(_ name: String, _ problem: String, _ value: Substring) -> ErrorResponse {
        .badParameter("the parameter \(name) \(problem): \"\(value.prefix(40))\"")
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
        after = try ListParameters.time("after", in: query)
        before = try ListParameters.time("before", in: query)
    }

    private static func words(_ list: Substring?) -> [Substring] { list?.split(separator: ",") ?? [] }
}

extension Site {
    /// Responds with a page of captured URLs.
    func urls(
        _ request: Request, _ context: ConnectionContext, of find: @escaping @Sendable (String) throws -> Replayable
    ) async throws -> Response {
        let wanted = try URLList.Request(query: request.uri.queryParameters)
        let name = try context.name()
        if let format = try ListFormat(request.uri.queryParameters) {
            return try await urlsFile(format, name, wanted, find)
        }
        return try await found(context) { try store.resolver.urls(wanted, in: find($0), isWanted: $1) }
    }

    private func urlsFile(
        _ format: ListFormat, _ name: String, _ request: URLList.Request,
        _ find: @escaping @Sendable (String) throws -> Replayable
    ) async throws -> Response {
        let replayable = try await blocking { try find(name) }
        var start = request
        (start.start, start.limit) = (nil, 1000)
        // After the last block, there is no position.
        return try await listFile(format, named: "\(replayable.id)-urls", from: start as URLList.Request?) {
            request -> [URLList.Item]? in
            guard let wanted = request else { return nil }
            let list = try store.resolver.urls(wanted, in: replayable)
            request = list.next.flatMap { URLScan.Position(cursor: $0) }.map { wanted.from($0) }
            return list.urls
        }
    }
}
