package import Foundation
package import WebArchive

/// One WACZ in the store, as the catalog knows it. Its JSON is documented in `docs/json.md`.
package struct Archive: Sendable, Hashable {
    /// Names the files in the store: the SHA-256 in hex.
    package let key: String
    package var id: ArchiveID
    package var title: String
    package let sha256: String
    /// Of the file, in bytes.
    package let size: UInt64
    package var originalName: String
    /// Path or origin of the import, for people; not part of the JSON, since it may name folders.
    package var source: String
    package var importedAt: Date
    package var createdAt: Date?
    package var description: String?
    package var software: String?
    package var waczVersion: String?
    package var mainPageURL: String?
    package var mainPageTimestamp: String?
    package var pageCount: Int
    package var captureCount: Int
    /// Earliest and latest capture, 14 or 17 digits.
    package var firstCapture: String?
    package var lastCapture: String?
    package var findingCounts: FindingCounts
    /// How captures are looked up; `nil` when that was not found out yet: then the index is checked before it is trusted.
    package var lookups: ArchiveLookups?

    /// The engine's collection for this very file: a replaced file never shows the old one's pages.
    package var collection: String { "\(id)-\(sha256.prefix(12))" }
    /// Path of the file on every origin that serves it.
    package var filePath: String { "/archives/\(id).wacz" }
}

/// How many findings of each severity an archive has.
package struct FindingCounts: Sendable, Hashable, Codable {
    package var notice = 0
    package var warning = 0
    package var error = 0

    package init(notice: Int = 0, warning: Int = 0, error: Int = 0) {
        self.notice = notice
        self.warning = warning
        self.error = error
    }

    package init(_ findings: [Finding]) {
        for finding in findings {
            switch finding.severity {
            case .notice: notice += 1
            case .warning: warning += 1
            case .error: error += 1
            }
        }
    }
}

extension Archive: Encodable {
    private enum CodingKeys: String, CodingKey {
        case id, title, sha256, size, originalName, importedAt, createdAt, description, software, waczVersion
        case pageCount, captureCount, firstCapture, lastCapture, mainPage, verification, findingCounts, collection, file
        case lookups, lookupsReason
    }

    private struct MainPage: Encodable {
        let url: String
        let timestamp: String?
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id.text, forKey: .id)
        try container.encode(title, forKey: .title)
        try container.encode(sha256, forKey: .sha256)
        try container.encode(size, forKey: .size)
        try container.encode(originalName, forKey: .originalName)
        try container.encode(RFC3339.text(of: importedAt), forKey: .importedAt)
        try container.encodeIfPresent(createdAt.map(RFC3339.text), forKey: .createdAt)
        try container.encodeIfPresent(description, forKey: .description)
        try container.encodeIfPresent(software, forKey: .software)
        try container.encodeIfPresent(waczVersion, forKey: .waczVersion)
        try container.encode(pageCount, forKey: .pageCount)
        try container.encode(captureCount, forKey: .captureCount)
        try container.encodeIfPresent(firstCapture.flatMap(RFC3339.text(ofTimestamp:)), forKey: .firstCapture)
        try container.encodeIfPresent(lastCapture.flatMap(RFC3339.text(ofTimestamp:)), forKey: .lastCapture)
        try container.encodeIfPresent(
            mainPageURL.map { MainPage(url: $0, timestamp: mainPageTimestamp) }, forKey: .mainPage)
        // Nothing in this version checks the hashes inside the package, and nothing claims that it did.
        try container.encode("not-yet-verified", forKey: .verification)
        try container.encode(findingCounts, forKey: .findingCounts)
        try container.encode(collection, forKey: .collection)
        try container.encode(filePath, forKey: .file)
        try container.encodeIfPresent(lookups.map { $0.usesSidecar ? "sidecar" : "in-place" }, forKey: .lookups)
        try container.encodeIfPresent(lookups?.reason, forKey: .lookupsReason)
    }
}

/// One archive with its findings: what `info` and `/api/archives/ID` show.
package struct ArchiveDetails: Sendable, Hashable, Encodable {
    package let archive: Archive
    package let findings: [Finding]

    private enum CodingKeys: String, CodingKey {
        case findings
    }

    package func encode(to encoder: any Encoder) throws {
        try archive.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(findings, forKey: .findings)
    }
}

/// A page that an archive lists, in the archive's order.
package struct ArchivePage: Sendable, Hashable, Encodable {
    package let position: Int
    package let list: String
    package let url: String
    package let timestamp: String?
    package let title: String?

    private enum CodingKeys: String, CodingKey {
        case position, list, url, timestamp, capturedAt, title
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(position, forKey: .position)
        try container.encode(list, forKey: .list)
        try container.encode(url, forKey: .url)
        try container.encodeIfPresent(timestamp, forKey: .timestamp)
        try container.encodeIfPresent(timestamp.flatMap(RFC3339.text(ofTimestamp:)), forKey: .capturedAt)
        try container.encodeIfPresent(title, forKey: .title)
    }
}

/// One entry of an archive's index, for "was this captured, and when".
package struct CaptureSummary: Sendable, Hashable, Encodable {
    package let url: String
    package let timestamp: String
    package let status: Int?
    package let mime: String?

    private enum CodingKeys: String, CodingKey {
        case url, timestamp, capturedAt, status, mime
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(url, forKey: .url)
        try container.encode(timestamp, forKey: .timestamp)
        try container.encodeIfPresent(RFC3339.text(ofTimestamp: timestamp), forKey: .capturedAt)
        try container.encodeIfPresent(status, forKey: .status)
        try container.encodeIfPresent(mime, forKey: .mime)
    }
}

/// Times as text. RFC 3339, in UTC, to the second.
package enum RFC3339 {
    package static func text(of date: Date) -> String {
        date.formatted(.iso8601)
    }

    package static func date(_ text: String) -> Date? {
        try? Date(text, strategy: .iso8601)
    }

    /// The time of a 14- or 17-digit timestamp; `nil` when the digits are no time.
    package static func text(ofTimestamp digits: String) -> String? {
        CaptureTimestamp(digits: digits).map { text(of: $0.date) }
    }
}
