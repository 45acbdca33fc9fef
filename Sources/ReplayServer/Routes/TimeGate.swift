import ArchiveStore
import HTTPTypes
import Hummingbird
import WebArchive

/// `/c/ID/URL`: redirects to the capture closest to `Accept-Datetime`. RFC 7089 §4.1, pattern 2.1.
struct TimeGate: Sendable {
    let call: CaptureCall
    let url: String

    func respond() async throws -> Response {
        let memento = call.memento(url)
        let found = try await call.closest(
            call.wanted(url, at: try time()), to: url, orWith: [.vary: "Accept-Datetime", .link: memento.links()])
        let location = CaptureAddress.memento(
            call.scope.id ?? found.archive.id, found.entry.timestamp, .none, found.entry.url)
        let links = memento.links(memento: found.entry.captureTime.map { (location, $0) })
        return CaptureCall.redirect(to: location, links: links, fields: [.vary: "Accept-Datetime"])
    }

    /// Returns the requested time; `nil` for the latest capture.
    private func time() throws -> CaptureTimestamp? {
        guard let field = call.request.headers[.acceptDatetime] else { return nil }
        let seconds = HTTPDate.seconds(of: field)
        guard let time = seconds.flatMap({ CaptureTimestamp(millisecondsSince1970: Int64($0) * 1000) }) else {
            throw ErrorResponse(
                .badRequest, code: "bad-datetime",
                "Accept-Datetime isn't a valid HTTP date: \"\(field.prefix(60))\"",
                hint: "for example: Thu, 31 May 2007 20:35:00 GMT", fields: [.vary: "Accept-Datetime"])
        }
        return time
    }
}
