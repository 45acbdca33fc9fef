import ArchiveStore
import Foundation
import HTTPTypes
import Hummingbird
import WebArchive

/// Lists of captures: the CDX server API as pywb's clients speak it, and TimeMaps. Documented in `docs/cdx.md`.
struct CaptureLists: Sendable {
    let site: Site
    let asked: CaptureRoutes.Asked
    let context: ConnectionContext

    /// `/c/ID/cdx?url=…`
    func cdx(_ request: Request) async throws -> Response {
        let query = try Self.query(Self.parameters(request.uri.query ?? ""))
        let origin = "http://\(request.head.authority?.lowercased() ?? "")"
        let answer = try await answer(query, origin: origin)
        guard let first = try await Self.wordsForBadParameters({ try await site.blocking.long { try answer.first() } })
        else { return respond([], type: query.mediaType) }
        return respond(type: query.mediaType, body: answer.body(first: first, blocking: site.blocking))
    }

    /// `/c/ID/timemap/FORM/URL`. RFC 7089 §5.
    func timeMap(_ memento: Memento, form: String) async throws -> Response {
        guard let output = ["link": "link", "json": "json", "cdxj": "cdxj"][form] else {
            throw ErrorResponse(
                .notFound, code: "not-found", "a TimeMap has the form link, json or cdxj, not \"\(form.prefix(20))\"")
        }
        let query = try Self.query([("url", memento.url), ("matchType", "exact"), ("output", output)])
        let opening = form == "link" ? memento.timeMapOpening : ""
        let answer = try await answer(query, origin: memento.origin, opening: opening)
        guard let first = try await site.blocking.long({ try answer.first() }) else {
            throw CaptureRoutes.notCaptured(memento.url, fields: [.link: memento.links()])
        }
        return respond(
            type: query.mediaType, body: answer.body(first: first, blocking: site.blocking),
            fields: [.link: memento.links()])
    }

    private func answer(_ query: CDXQuery, origin: String, opening: String = "") async throws -> CDXAnswer {
        let (store, client) = (site.store, try await context.watchClient())
        // Of a group those members are asked whose files are at hand.
        let archives = asked.archives
        let readable = try await site.blocking {
            archives.count == 1 ? archives : archives.filter { $0.availability(in: store.layout) == .here }
        }
        let sources = readable.map { archive in
            CDXQuerySource(name: archive.id.text) { () throws(WebArchiveError) in
                let indexed = try store.openArchives.indexed(archive)
                return (indexed.wacz, indexed.trustsOrder)
            }
        }
        let scope: ArchiveID? = if case .one(let replayable) = asked { replayable.id } else { nil }
        let namesSources = archives.count > 1 || scope == nil
        return CDXAnswer(
            query, sources: sources, namesSources: namesSources, temporaryFolder: store.layout.incoming,
            opening: opening,
            mementoURL: { source, timestamp, url in
                "\(origin)\(CaptureAddress.prefix)\(scope?.text ?? source)/\(timestamp)/\(url)"
            },
            isClientThere: { client.isThere })
    }

    private func respond(type: String, body: ResponseBody, fields own: HTTPFields = [:]) -> Response {
        let fields = SecurityHeaders.common.adding([
            .contentType: type, .contentSecurityPolicy: SecurityHeaders.inert, .cacheControl: "no-cache",
        ]).adding(own)
        return Response(status: .ok, headers: fields, body: body)
    }

    private func respond(_ bytes: [UInt8], type: String) -> Response {
        respond(type: type, body: ResponseBody(byteBuffer: .init(bytes: bytes)))
    }

    /// The pairs of a query, in order, percent-decoded, a plus as a space.
    private static func parameters(_ query: String) throws -> [(name: String, value: String)] {
        try query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            func decoded(_ text: Substring) throws -> String {
                guard let text = text.replacing("+", with: " ").removingPercentEncoding else {
                    throw ErrorResponse(
                        .badRequest, code: "bad-parameter",
                        "the parameter \(parts[0].prefix(40)) is not well-formed percent-encoding")
                }
                return text
            }
            return (try decoded(parts[0]), try decoded(parts.count > 1 ? parts[1] : ""))
        }
    }

    private static func query(_ parameters: [(name: String, value: String)]) throws -> CDXQuery {
        do {
            return try CDXQuery(parameters: parameters)
        } catch {
            throw badParameter(error)
        }
    }

    private static func badParameter(_ problem: CDXQueryProblem) -> ErrorResponse {
        ErrorResponse(.badRequest, code: "bad-parameter", problem.what, hint: problem.hint)
    }

    private static func wordsForBadParameters<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let problem as CDXQueryProblem {
            throw badParameter(problem)
        }
    }
}

extension Memento {
    /// What stands before the mementos in a TimeMap: the original, the map itself and the TimeGate. RFC 7089 §5.
    var timeMapOpening: String {
        [
            Self.link(url, "rel=\"original\""),
            Self.link(timeMap("link"), "rel=\"self\"; type=\"application/link-format\""),
            Self.link(timeGate, "rel=\"timegate\""),
        ].map { "\($0),\n" }.joined()
    }
}
