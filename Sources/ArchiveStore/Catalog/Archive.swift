package import Foundation
package import WebArchive

/// One WACZ in the store. Its JSON is documented in `docs/json.md`.
///
/// What was read from the file and what the store adds to it are values of their own, since the catalog and the sidecar keep them
/// as such. Their members are members of the archive.
@dynamicMemberLookup
package struct Archive: Sendable, Hashable {
    /// Names what lies in the store: the SHA-256 in hex; for a linked file that is not hashed yet, `ref-` and a UUID.
    package private(set) var key: String
    package let id: ArchiveID
    /// Of the whole file, in hex; `nil` for a linked file that is not hashed yet.
    package var sha256: String?
    /// Of the file, in bytes.
    package let size: UInt64
    package var storage: ArchiveStorage
    /// Whether pages and findings were read from the file; not so when a catalog was rebuilt while the file was unavailable.
    package var isExamined = true
    package var entry: LibraryEntry
    package var summary: ArchiveSummary

    package subscript<Value>(dynamicMember member: WritableKeyPath<LibraryEntry, Value>) -> Value {
        get { entry[keyPath: member] }
        set { entry[keyPath: member] = newValue }
    }

    package subscript<Value>(dynamicMember member: KeyPath<ArchiveSummary, Value>) -> Value {
        summary[keyPath: member]
    }

    /// The engine's collection for this very file: a replaced file never shows the old one's pages.
    package var replayCollection: String { "\(id)-\(Self.mark(of: sha256 ?? key))" }
    /// Path of the file on every origin that serves it.
    package var filePath: String { "/archives/\(id).wacz" }
    /// The same, as an address of this very file: 404 once it is another one.
    package var versionedFilePath: String {
        sha256.map { "\(filePath)?sha256=\($0)" } ?? "\(filePath)?version=\(key)"
    }

    /// The same archive once its SHA-256 is known.
    func rekeyed(_ sha256: String) -> Archive {
        var archive = self
        archive.entry.provisionalKey = key
        archive.key = sha256
        archive.sha256 = sha256
        return archive
    }

    /// 12 hex digits that tell one file from another.
    static func mark(of key: String) -> String {
        String(key.dropFirst(key.hasPrefix(StoreLayout.provisionalPrefix) ? 4 : 0).filter { $0 != "-" }.prefix(12))
    }
}

extension Archive: Encodable {
    private enum CodingKeys: String, CodingKey {
        case id, title, sha256, size, originalName, importedAt, createdAt, description, software, waczVersion
        case pageCount, captureCount, firstCapture, lastCapture, mainPage, verification, findingCounts,
            replayCollection, file
        case lookups, lookupsReason, tags, notes, storage, linkedPath
    }

    /// Where a visit starts.
    struct MainPage: Encodable {
        let url: String
        let timestamp: String?
    }

    /// The page that the package names as its first; `nil` when it names none.
    var mainPage: MainPage? { summary.mainPageURL.map { MainPage(url: $0, timestamp: summary.mainPageTimestamp) } }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id.text, forKey: .id)
        try container.encode(entry.title, forKey: .title)
        try container.encodeIfPresent(sha256, forKey: .sha256)
        try container.encode(size, forKey: .size)
        try container.encode(entry.originalName, forKey: .originalName)
        try container.encode(RFC3339.text(of: entry.importedAt), forKey: .importedAt)
        try container.encodeIfPresent(summary.createdAt.map(RFC3339.text), forKey: .createdAt)
        try container.encodeIfPresent(summary.description, forKey: .description)
        try container.encodeIfPresent(summary.software, forKey: .software)
        try container.encodeIfPresent(summary.waczVersion, forKey: .waczVersion)
        try container.encode(summary.pageCount, forKey: .pageCount)
        try container.encode(summary.captureCount, forKey: .captureCount)
        try container.encodeIfPresent(summary.firstCapture.flatMap(RFC3339.text(ofTimestamp:)), forKey: .firstCapture)
        try container.encodeIfPresent(summary.lastCapture.flatMap(RFC3339.text(ofTimestamp:)), forKey: .lastCapture)
        try container.encodeIfPresent(mainPage, forKey: .mainPage)
        // Nothing in this version checks the hashes inside the package, and nothing claims that it did.
        try container.encode("not-yet-verified", forKey: .verification)
        try container.encode(summary.findingCounts, forKey: .findingCounts)
        try container.encode(replayCollection, forKey: .replayCollection)
        try container.encode(filePath, forKey: .file)
        try container.encodeIfPresent(summary.lookups.map { $0.usesSidecar ? "sidecar" : "in-place" }, forKey: .lookups)
        try container.encodeIfPresent(summary.lookups?.reason, forKey: .lookupsReason)
        try container.encode(entry.tags, forKey: .tags)
        try container.encode(entry.notes, forKey: .notes)
        try container.encode(storage.name, forKey: .storage)
        try container.encodeIfPresent(storage.linkedFile?.path, forKey: .linkedPath)
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
    /// The collections that it is in.
    package let collections: [ArchiveID]

    private enum CodingKeys: String, CodingKey {
        case availability, findings, collections
    }

    package func encode(to encoder: any Encoder) throws {
        try archive.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(availability, forKey: .availability)
        try container.encode(findings, forKey: .findings)
        try container.encode(collections.map(\.text), forKey: .collections)
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
