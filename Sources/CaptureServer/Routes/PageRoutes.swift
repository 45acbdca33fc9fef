import ArchiveStore
import CaptureAPI
import CaptureWorker
import HTTPTypes
import Hummingbird
import ReplayServer
import WebArchive

/// Shows what was saved of a page as an image and a text, on devices that can't replay it: replay is for this computer only.
struct PageRoutes: Sendable {
    let service: CaptureService

    /// `GET /download/{id}/page`: the URL, the title, the time and the text of the page.
    func page(_ call: CaptureRoutes.Call) async throws -> Response {
        let page = try await read(call) { wacz, page, time in
            let text = try Self.content("urn:text:\(page.url)", time, wacz, upTo: Self.textBytesMax)
            return SavedPage(
                url: page.url, title: page.title, capturedAt: QueueTime.text(time.date),
                text: text.map { String(decoding: $0, as: UTF8.self) })
        }
        guard let page else { throw RequestFailure(.notFound, "not_found", "the archive has no page, or isn't there") }
        return try JSONAnswer.response(page)
    }

    /// `GET /download/{id}/screenshot`: the page as the browser showed it while it was saved.
    func screenshot(_ call: CaptureRoutes.Call) async throws -> Response {
        let image = try await read(call) { wacz, page, time in
            try Self.content("urn:view:\(page.url)", time, wacz, upTo: Self.imageBytesMax).flatMap { bytes in
                ImageHeader(bytes).map { (type: $0.type, bytes: bytes) }
            }
        }
        guard let image else { throw RequestFailure(.notFound, "not_found", "the archive has no screenshot") }
        return Responses.bytes(
            image.bytes, type: image.type, status: .ok, policy: SecurityHeaders.inert,
            fields: [.cacheControl: "no-store"])
    }

    /// Reads the page of a download's archive that came from a site; not the one that plays a video, which we made.
    ///
    /// - Returns: `nil` without such a page.
    private func read<Value: Sendable>(
        _ call: CaptureRoutes.Call, _ body: @escaping @Sendable (WACZFile, Page, CaptureTimestamp) throws -> Value?
    ) async throws -> Value? {
        let row = try await service.row(call.path[1], for: call.caller)
        guard call.isConfidential else {
            throw RequestFailure(.forbidden, "forbidden", "use https: others on the network could read the page")
        }
        return try await BlockingWork().long { [store = service.store] in
            guard let archive = try row.archiveSHA256.flatMap({ try store.storedArchive(sha256: $0) }) else {
                return nil
            }
            let wacz = try store.openArchives.wacz(of: archive, Allowances())
            var value: Value?
            try wacz.forEachPage { page in
                guard !page.url.hasPrefix(ArchivePack.ownPrefix), let time = page.captureTime else { return true }
                value = try body(wacz, page, time)
                return false
            }
            return value
        }
    }

    /// Returns the content of a record of ours; `nil` if there is none, or it's too large.
    private static func content(
        _ url: String, _ time: CaptureTimestamp, _ wacz: WACZFile, upTo bytesMax: UInt64
    ) throws -> [UInt8]? {
        guard let entry = try wacz.closestCapture(toURL: url, at: time), entry.url == url else { return nil }
        let content = try RecordContent(wacz.record(of: entry))
        guard content.record.contentLength <= bytesMax else { return nil }
        return try content.openBody().readAll(limit: bytesMax)
    }

    private static let (textBytesMax, imageBytesMax) = (UInt64(1 << 20), UInt64(8 << 20))
}
