import ArchiveStore
import Foundation
import HTTPTypes
import Hummingbird

/// Lets a browser search the library from its address bar. OpenSearch 1.1 Draft 6, and its Suggestions extension.
struct OpenSearchRoutes: Sendable {
    let site: Site

    var routes: RouteCollection<ConnectionContext> {
        let routes = RouteCollection(context: ConnectionContext.self)
            .get("/opensearch.xml") { request, _ in Self.description(at: request.targetOrigin) }
            .get("/search") { request, _ in Self.results(of: Self.words(request)) }
        routes.group("/search").add(middleware: SameOriginOnly())
            .get("/suggestions") { request, _ in try await suggestions(for: Self.words(request)) }
        return routes
    }

    /// Describes the search of the origin that was asked.
    private static func description(at origin: String) -> Response {
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
            <ShortName>replayhost</ShortName>
            <Description>Search the web archives on this computer</Description>
            <InputEncoding>UTF-8</InputEncoding>
            <Image type="image/svg+xml">\(origin)/app/icon.svg</Image>
            <Url type="text/html" template="\(origin)/search?q={searchTerms}"/>
            <Url type="application/x-suggestions+json" template="\(origin)/search/suggestions?q={searchTerms}"/>
            <Url type="application/opensearchdescription+xml" rel="self" template="\(origin)/opensearch.xml"/>
            </OpenSearchDescription>

            """
        return Responses.bytes(
            Data(xml.utf8), type: "application/opensearchdescription+xml", status: .ok, policy: SecurityHeaders.inert,
            fields: [.cacheControl: "no-cache"])
    }

    /// Redirects to the results. Browsers drop a fragment from the template of a URL, so it can't lead there directly.
    private static func results(of words: String) -> Response {
        let encoded = words.addingPercentEncoding(withAllowedCharacters: .unreserved) ?? ""
        return Responses.redirect(to: "/#search=\(encoded)")
    }

    /// Returns the words and a list of texts that complete them.
    private func suggestions(for words: String) async throws -> Response {
        let found = try await site.blocking.long { try site.store.searcher.suggestions(for: words, limit: 8) }
        let texts = found.map(\.text)
        return try Responses.json(
            OpenSearchSuggestions(words: words, texts: texts), fields: [.contentType: "application/x-suggestions+json"])
    }

    /// Returns the parameter `q`. Browsers write spaces as `+`, as in a form.
    private static func words(_ request: Request) -> String {
        let pairs = request.uri.query?.split(separator: "&") ?? []
        guard let pair = pairs.first(where: { $0.hasPrefix("q=") }) else { return "" }
        return pair.dropFirst(2).replacing("+", with: " ").removingPercentEncoding ?? ""
    }
}

/// `["words", ["text", …]]`
private struct OpenSearchSuggestions: Encodable {
    let words: String
    let texts: [String]

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(words)
        try container.encode(texts)
    }
}
