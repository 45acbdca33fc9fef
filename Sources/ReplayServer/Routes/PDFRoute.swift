import ArchiveStore
import HTTPTypes
import Hummingbird
import WebArchive

/// `/pdf/ID/TIMESTAMP/URL` on `127.0.0.1`: a captured PDF document, for a frame of the viewer.
///
/// Browsers show PDF only without a sandbox, so nothing else may be shown here: the type is fixed and isn't sniffed,
/// the capture must be successful and start like a PDF, and no archived fields are sent. No archived page runs on this
/// origin, because some browsers let scripts of the same origin read the document.
struct PDFRoute: Sendable {
    let site: Site

    static let prefix = "/pdf/"

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        guard isByViewer(request) else {
            throw ErrorResponse.forbidden("PDF documents can only be opened in the viewer")
        }
        guard let (id, time, url) = Self.parts(request.head.path ?? ""),
            let replayable = try await site.blocking({ try site.store.resolver.replayable(id: id) })
        else { throw ErrorResponse.notFound }
        let client = context.watchClient()
        let wanted = ArchiveStore.CaptureRequest(url: url, time: time)
        let capture = try await site.blocking.long {
            try site.store.resolver.openCapture(
                wanted, in: replayable.archives, allowsFuzzyMatch: true, isWanted: { client.isThere })
        }
        guard let capture else { throw CaptureCall.notCaptured(url, fields: [:]) }
        guard (capture.status ?? 200) == 200 else { throw Self.notPDF }
        var head = request.head
        // Send the complete document, so that no second request can get other content, and decoded, so that it can be checked.
        for name in [HTTPField.Name.range, .ifRange, .ifNoneMatch, .acceptEncoding] { head.headerFields[name] = nil }
        let answer = try await CaptureAnswer(
            capture: capture, modifier: .identity, request: Request(head: head, body: request.body),
            blocking: site.blocking, client: client, scope: replayable.id, check: Self.checkIsPDF
        ).response(fields: [:])
        var fields = SecurityHeaders.common.adding([
            .contentType: "application/pdf",
            .contentDisposition: "inline; \(CaptureAnswer.fileName(capture.entry.url))",
            .cacheControl: "no-store", .acceptRanges: "none", .contentSecurityPolicy: SecurityHeaders.pdf(site.hosts),
            .connectionAllowlist: SecurityHeaders.ownOrigin,
        ])
        fields[.contentLength] = answer.headers[.contentLength]
        return Response(status: .ok, headers: fields, body: answer.body)
    }

    /// Whether the viewer requests the document in a frame. Other pages can't send its `Referer`.
    private func isByViewer(_ request: Request) -> Bool {
        request.headers[.secFetchMode] == "navigate" && request.headers[.secFetchDest] == "iframe"
            && site.hosts.isLibrary(request.headers[.referer])
    }

    private static func parts(_ path: String) -> (ArchiveID, CaptureTimestamp?, String)? {
        let parts = path.dropFirst(prefix.count)
            .split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let id = ArchiveID(parts[0]), !parts[2].isEmpty,
            parts[2].utf8.count <= Limits.standard.urlBytesMax
        else { return nil }
        return (id, CaptureTimestamp(endOf: String(parts[1])), String(parts[2]))
    }

    /// The PDF header is in the first 1,024 bytes, where readers look for it.
    private static func checkIsPDF(_ start: [UInt8]) throws {
        guard start.prefix(1024).firstRange(of: Array("%PDF-".utf8)) != nil else { throw notPDF }
    }

    private static let notPDF = ErrorResponse(.notFound, code: "not-a-pdf", "this capture isn't a PDF document")
}
