package import Foundation
package import WebArchive

/// One WACZ in the store, as the catalog knows it. Its JSON is documented in `docs/json.md`.
package struct Archive: Sendable, Hashable {
    /// Names what lies in the store: the SHA-256 in hex; for a referenced file that is not hashed yet, `ref-` and a UUID.
    package private(set) var key: String
    package var id: ArchiveID
    package var title: String
    /// Of the whole file, in hex; `nil` for a referenced file that is not hashed yet.
    package var sha256: String?
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
    /// Words that people file it under, in their order.
    package var tags: [String] = []
    /// What people wrote about it.
    package var notes = ""
    /// Where it is replayed when each archive has a port of its own; `nil` until it was.
    package var port: Int?
    /// The file outside of the store that this archive is; `nil` when the store has a file of its own.
    package var reference: FileReference?
    /// What `key` was before a referenced file had its hash: addresses that hold it still mean this file.
    package var provisionalKey: String?
    /// Whether pages and findings were read from the file; not so when a catalog was made anew while the file was away.
    package var isExamined = true

    /// The engine's collection for this very file: a replaced file never shows the old one's pages.
    package var collection: String { "\(id)-\(Self.mark(of: sha256 ?? key))" }
    /// Path of the file on every origin that serves it.
    package var filePath: String { "/archives/\(id).wacz" }
    /// The same, as an address of this very file: 404 once it is another one.
    package var versionedFilePath: String {
        sha256.map { "\(filePath)?sha256=\($0)" } ?? "\(filePath)?version=\(key)"
    }

    /// The same archive once its SHA-256 is known.
    func rekeyed(_ sha256: String) -> Archive {
        var archive = self
        archive.provisionalKey = key
        archive.key = sha256
        archive.sha256 = sha256
        return archive
    }

    /// 12 hex digits that tell one file from another.
    static func mark(of key: String) -> String {
        String(key.dropFirst(key.hasPrefix(StoreLayout.referencePrefix) ? 4 : 0).filter { $0 != "-" }.prefix(12))
    }
}

/// A file that an archive is made of and that stays where it is.
package struct FileReference: Sendable, Hashable, Codable {
    /// Absolute, with links followed.
    package let path: String
    /// Bytes when it was read.
    package let size: UInt64
    /// Time of its last change when it was read, in nanoseconds since 1970.
    package let modifiedAtNanoseconds: Int64
}

/// Whether an archive's file can be read now.
package enum Availability: String, Sendable, Hashable, Codable {
    case here
    /// A referenced file is not where it was: its volume is away, or it was moved.
    case offline
    /// A referenced file is another one than was read.
    case changed
    /// The store's own file is gone.
    case missing
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
        case lookups, lookupsReason, tags, notes, storage, reference
    }

    /// Where a visit starts.
    struct MainPage: Encodable {
        let url: String
        let timestamp: String?
    }

    /// The page that the package names as its first; `nil` when it names none.
    var mainPage: MainPage? { mainPageURL.map { MainPage(url: $0, timestamp: mainPageTimestamp) } }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id.text, forKey: .id)
        try container.encode(title, forKey: .title)
        try container.encodeIfPresent(sha256, forKey: .sha256)
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
        try container.encodeIfPresent(mainPage, forKey: .mainPage)
        // Nothing in this version checks the hashes inside the package, and nothing claims that it did.
        try container.encode("not-yet-verified", forKey: .verification)
        try container.encode(findingCounts, forKey: .findingCounts)
        try container.encode(collection, forKey: .collection)
        try container.encode(filePath, forKey: .file)
        try container.encodeIfPresent(lookups.map { $0.usesSidecar ? "sidecar" : "in-place" }, forKey: .lookups)
        try container.encodeIfPresent(lookups?.reason, forKey: .lookupsReason)
        try container.encode(tags, forKey: .tags)
        try container.encode(notes, forKey: .notes)
        try container.encode(reference == nil ? "managed" : "referenced", forKey: .storage)
        try container.encodeIfPresent(reference?.path, forKey: .reference)
    }
}

/// An archive and whether its file can be read now: what lists show.
package struct ListedArchive: Sendable, Hashable, Encodable {
    package let archive: Archive
    package let availability: Availability

    private enum CodingKeys: String, CodingKey {
        case availability
    }

    package func encode(to encoder: any Encoder) throws {
        try archive.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(availability, forKey: .availability)
    }
}

/// One archive with its findings: what `info` and `/api/archives/ID` show.
package struct ArchiveDetails: Sendable, Hashable, Encodable {
    package let archive: Archive
    package let availability: Availability
    package let findings: [Finding]
    /// The groups that it is in.
    package let groups: [ArchiveID]

    private enum CodingKeys: String, CodingKey {
        case availability, findings, groups
    }

    package func encode(to encoder: any Encoder) throws {
        try archive.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(availability, forKey: .availability)
        try container.encode(findings, forKey: .findings)
        try container.encode(groups.map(\.text), forKey: .groups)
    }
}

/// A page that an archive lists, in the archive's order.
package struct ArchivePage: Sendable, Hashable, Encodable {
    package let position: Int
    package let list: String
    package let url: String
    package let timestamp: String?
    package let title: String?
    /// The archive that lists it, in a list of several archives' pages.
    package var archiveID: ArchiveID?

    private enum CodingKeys: String, CodingKey {
        case position, list, url, timestamp, capturedAt, title, archive
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(position, forKey: .position)
        try container.encode(list, forKey: .list)
        try container.encode(url, forKey: .url)
        try container.encodeIfPresent(timestamp, forKey: .timestamp)
        try container.encodeIfPresent(timestamp.flatMap(RFC3339.text(ofTimestamp:)), forKey: .capturedAt)
        try container.encodeIfPresent(title, forKey: .title)
        try container.encodeIfPresent(archiveID?.text, forKey: .archive)
    }
}

/// One entry of an archive's index, for "was this captured, and when".
package struct CaptureSummary: Sendable, Hashable, Encodable {
    package let url: String
    /// The URL with method and body in its query, of a request other than `GET`: replay finds the capture by it.
    package var request: String?
    package let timestamp: String
    package let status: Int?
    package let mime: String?
    /// The archive that has it, in a list of several archives' captures.
    package var archiveID: ArchiveID?

    private enum CodingKeys: String, CodingKey {
        case url, request, timestamp, capturedAt, status, mime, archive
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(url, forKey: .url)
        try container.encodeIfPresent(request, forKey: .request)
        try container.encode(timestamp, forKey: .timestamp)
        try container.encodeIfPresent(RFC3339.text(ofTimestamp: timestamp), forKey: .capturedAt)
        try container.encodeIfPresent(status, forKey: .status)
        try container.encodeIfPresent(mime, forKey: .mime)
        try container.encodeIfPresent(archiveID?.text, forKey: .archive)
    }
}

/// Times as text. RFC 3339, in UTC, to the second.
package enum RFC3339 {
    package static func text(of date: Date) -> String {
        date.formatted(.iso8601)
    }

    /// Now, to the microsecond: what a sidecar keeps of a time.
    static func now() -> Date {
        date(preciseText(of: Date())) ?? Date()
    }

    /// To the microsecond, always with six digits, so that these texts sort as the times do.
    static func preciseText(of date: Date) -> String {
        let micros = Int64((date.timeIntervalSince1970 * 1_000_000).rounded())
        let fraction = ((micros % 1_000_000) + 1_000_000) % 1_000_000
        let digits = String(fraction)
        let second = Date(timeIntervalSince1970: Double((micros - fraction) / 1_000_000))
        return text(of: second).dropLast() + "." + String(repeating: "0", count: 6 - digits.count) + digits + "Z"
    }

    /// Reads both forms.
    package static func date(_ text: String) -> Date? {
        parsed(text).flatMap { abs($0.timeIntervalSince1970) <= secondsMax ? $0 : nil }
    }

    /// Seconds from 1970 to the year 10000. A time from elsewhere can be in any year, and its microseconds must fit into 64 bits.
    private static let secondsMax = 253_402_300_800.0

    private static func parsed(_ text: String) -> Date? {
        guard let dot = text.lastIndex(of: "."), text.hasSuffix("Z") else {
            return try? Date(text, strategy: .iso8601)
        }
        let digits = text[text.index(after: dot)...].dropLast()
        guard digits.utf8.count == 6, let micros = Int(digits) else { return nil }
        return (try? Date(text[..<dot] + "Z", strategy: .iso8601))?.addingTimeInterval(Double(micros) / 1_000_000)
    }

    /// The time of a 14- or 17-digit timestamp; `nil` when the digits are no time.
    package static func text(ofTimestamp digits: String) -> String? {
        CaptureTimestamp(digits: digits).map { text(of: $0.date) }
    }
}
