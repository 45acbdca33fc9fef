import ArchiveStore
import Foundation
import HTTPTypes
import Hummingbird
import WebArchive

/// Lists of captures: the CDX server API, compatible with pywb, and TimeMaps. Documented in `docs/cdx.md`.
struct CaptureLists: Sendable {
    let call: CaptureCall

    private var site: Site { call.site }

    /// `/c/ID/cdx?url=…`
    func cdx() async throws -> Response {
        let query = try CDXQuery(parameters: Self.parameters(call.request.uri.query ?? ""))
        return respond(type: query.mediaType, body: try await lines(query) ?? ResponseBody())
    }

    /// `/c/ID/timemap/FORM/URL`. RFC 7089 §5.
    func timeMap(of url: String, form: String) async throws -> Response {
        let memento = call.memento(url)
        guard let output = ["link": "link", "json": "json", "cdxj": "cdxj"][form] else {
            throw ErrorResponse(
                .notFound, code: "not-found", "unknown TimeMap format \"\(form.prefix(20))\"",
                hint: "use link, json or cdxj")
        }
        let query = try CDXQuery(parameters: [("url", url), ("matchType", "exact"), ("output", output)])
        let opening = form == "link" ? memento.timeMapOpening : ""
        guard let body = try await lines(query, opening: opening) else {
            throw CaptureCall.notCaptured(url, fields: [.link: memento.links()])
        }
        return respond(type: query.mediaType, body: body, fields: [.link: memento.links()])
    }

    /// Returns the lines of a query as a body; `nil` if there are none. On one thread from the archives to the first line.
    private func lines(_ query: CDXQuery, opening: String = "") async throws -> ResponseBody? {
        try await site.blocking.long { try answer(query, opening).body(blocking: site.blocking) }
    }

    private func answer(_ query: CDXQuery, _ opening: String) throws -> CDXAnswer {
        let (store, client, origin) = (site.store, call.client, call.request.targetOrigin)
        let (archives, scope) = (try archives(for: query), call.scope.id)
        let only = scope != nil && archives.count == 1 ? archives.first : nil
        // Of several archives, unavailable ones are skipped. A single one reports its error.
        if let only { _ = try store.openArchives.lookups(only, Allowances()) }
        let namesSources = only == nil
        let sources = archives.bestCopiesFirst(in: store.layout).map {
            store.openArchives.querySource($0, isOneOfSeveral: namesSources)
        }
        return CDXAnswer(
            query, sources: sources, namesSources: namesSources, temporaryFolder: store.layout.incoming,
            opening: opening,
            mementoURL: { source, timestamp, url in
                "\(origin)\(CaptureAddress.prefix)\(scope?.text ?? source)/\(timestamp)/\(url)"
            },
            isClientThere: { client.isThere })
    }

    private func archives(for query: CDXQuery) throws -> [Archive] {
        if case .one(let replayable) = call.scope { return replayable.archives }
        return try site.store.resolver.archives(mayMatch: query)
    }

    private func respond(type: String, body: ResponseBody, fields own: HTTPFields = [:]) -> Response {
        let fields = SecurityHeaders.common.adding([
            .contentType: type, .contentSecurityPolicy: SecurityHeaders.inert, .cacheControl: "no-cache",
        ]).adding(own)
        return Response(status: .ok, headers: fields, body: body)
    }

    /// Returns the parameters of a query in order, percent-decoded, with plus signs as spaces.
    private static func parameters(_ query: String) throws -> [(name: String, value: String)] {
        try query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            func decoded(_ text: Substring) throws -> String {
                guard let text = text.replacing("+", with: " ").removingPercentEncoding else {
                    throw ErrorResponse.badParameter(
                        "the parameter \(parts[0].prefix(40)) isn't valid percent-encoding")
                }
                return text
            }
            return (try decoded(parts[0]), try decoded(parts.count > 1 ? parts[1] : ""))
        }
    }
}

extension Memento {
    /// The first links of a TimeMap: the original, the TimeMap itself and the TimeGate. RFC 7089 §5.
    var timeMapOpening: String {
        [
            Self.link(url, "rel=\"original\""),
            Self.link(timeMap("link"), "rel=\"self\"; type=\"application/link-format\""),
            Self.link(timeGate, "rel=\"timegate\""),
        ].map { "\($0),\n" }.joined()
    }
}
