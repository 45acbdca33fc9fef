import Foundation
import WebArchive

/// What an archive that this program made says about its pages: their text, and what the site refused.
struct RecordedPages: Sendable {
    struct Page: Sendable {
        let url: String
        /// 14 digits.
        let timestamp: String
        /// Whether it's the page that shows a medium, which no site sent.
        let isOurs: Bool
        let text: String
        /// Whether its document ended too early.
        var isCut = false
        /// The URLs for which the site sent an error.
        let refused: Set<String>
        /// The URLs for which no response came.
        let failed: Set<String>

        static let none = Page(url: "", timestamp: "", isOurs: true, text: "", refused: [], failed: [])
    }

    let pages: [Page]

    private static let pagesMax = 2
    private static let textBytesMax: UInt64 = 16 << 20
    private static let infoBytesMax: UInt64 = 32 << 20

    private struct Info: Decodable {
        struct Resource: Decodable {
            let status: Int?
            let error: String?
        }

        let urls: [String: Resource]
    }

    /// - Throws: `WebArchiveError`.
    init(_ path: String) throws {
        let wacz = try WACZFile.open(FileByteSource(path: path))
        var found: [Page] = []
        try wacz.forEachPage { page in
            guard let time = page.captureTime else { return true }
            let isOurs = page.url.hasPrefix(ArchivePack.ownPrefix)
            let text = try Self.content("urn:text:\(page.url)", time, wacz, Self.textBytesMax)
            let info = try Self.content("urn:pageinfo:\(page.url)", time, wacz, Self.infoBytesMax)
            let urls = info.flatMap { try? JSONDecoder().decode(Info.self, from: Data($0)).urls } ?? [:]
            let refused = urls.filter { ($0.value.status ?? 0) >= 400 }
            let failed = urls.filter { $0.value.error != nil && ($0.value.status ?? 0) < 400 }
            // Of a document, there is nothing to compare.
            guard isOurs || text != nil else { return true }
            let document = try wacz.closestCapture(toURL: page.url, at: time)
            let isCut = try document.map { try wacz.record(of: $0).headers["WARC-Truncated"] != nil } ?? false
            found.append(
                Page(
                    url: page.url, timestamp: time.digits14, isOurs: isOurs,
                    text: String(decoding: text ?? [], as: UTF8.self), isCut: isCut, refused: Set(refused.keys),
                    failed: Set(failed.keys)))
            return found.count < Self.pagesMax
        }
        pages = found
    }

    private static func content(
        _ url: String, _ time: CaptureTimestamp, _ wacz: WACZFile, _ limit: UInt64
    ) throws -> [UInt8]? {
        guard let entry = try wacz.closestCapture(toURL: url, at: time) else { return nil }
        return try RecordContent(wacz.record(of: entry)).openBody().readAll(limit: limit)
    }
}
