package import Foundation
package import WebArchive

/// One WACZ in the store. Its JSON is documented in `docs/json.md`.
///
/// `entry` is what the store adds, `summary` is what was read from the file. Their members are members of the archive.
@dynamicMemberLookup
package struct Archive: Sendable, Hashable {
    /// The name of the archive's files in the store: the SHA-256 in hex, or `ref-` and a UUID until a linked file is
    /// hashed.
    package private(set) var key: String
    package let id: ArchiveID
    /// The SHA-256 of the file in hex; `nil` until a linked file is hashed.
    package var sha256: String?
    /// The file's size in bytes.
    package let size: UInt64
    package var storage: ArchiveStorage
    /// Whether pages and findings were read from the file; `false` if the catalog was rebuilt while the file was
    /// unavailable.
    package var isExamined = true
    package var entry: LibraryEntry
    package var summary: ArchiveSummary
    /// The file as it was when all of it was read last: imported, hashed or verified. `nil` if that is unknown.
    package var lastReading: Reading?
    /// The number of pages that were detected among the captures of an archive without a page list; 0 before its text is
    /// indexed.
    package var detectedPageCount = 0

    /// The result of the last verification; `nil` before the first.
    package var verified: VerificationSummary? { lastReading?.verified }

    /// The number of listed pages, else of detected ones.
    package var pageCount: Int { summary.pageCount > 0 ? summary.pageCount : detectedPageCount }
    /// Whether the archive has no page list, and its pages were detected among its captures.
    package var hasDetectedPages: Bool { summary.pageCount == 0 && detectedPageCount > 0 }

    package subscript<Value>(dynamicMember member: WritableKeyPath<LibraryEntry, Value>) -> Value {
        get { entry[keyPath: member] }
        set { entry[keyPath: member] = newValue }
    }

    package subscript<Value>(dynamicMember member: KeyPath<ArchiveSummary, Value>) -> Value {
        summary[keyPath: member]
    }

    /// The engine's name for this version of the file, so that a replaced file never shows pages of the old one.
    package var replayCollection: String { "\(id)-\(Self.mark(of: shownVersion))" }
    /// Identifies what is shown of the file: its hash, turned around if that includes what its signature doesn't cover.
    var shownVersion: String {
        let version = sha256 ?? key
        return entry.showsUncovered ? String(version.reversed()) : version
    }
    /// The path of the file on each origin that serves it.
    package var filePath: String { "/archives/\(id).wacz" }
    /// The path of its picture, if it contains one.
    package var thumbnailPath: String { "/api/archives/\(id)/thumbnail" }
    /// The path of this version of the file: 404 once the file was replaced.
    package var versionedFilePath: String {
        sha256.map { "\(filePath)?sha256=\($0)" } ?? "\(filePath)?version=\(key)"
    }

    /// Returns the archive with its SHA-256 as the key.
    func rekeyed(_ sha256: String) -> Archive {
        var archive = self
        archive.entry.provisionalKey = key
        archive.key = sha256
        archive.sha256 = sha256
        return archive
    }

    /// Returns 12 hex digits that identify the file.
    static func mark(of key: String) -> String {
        String(key.dropFirst(key.hasPrefix(StoreLayout.provisionalPrefix) ? 4 : 0).filter { $0 != "-" }.prefix(12))
    }
}

extension Archive {
    /// The state of a file when it was last read completely, and the result of verifying it in that state. A catalog has no result without
    /// a state.
    package struct Reading: Sendable, Hashable {
        /// See `stat.state`.
        package let state: String
        package let verified: VerificationSummary?

        /// - Parameter verified: What a verification of the file in this state found; `nil` if there was none.
        init(state: String, verified: VerificationSummary?) {
            (self.state, self.verified) = (state, verified)
        }

        /// Keeps the result of an earlier reading if the file was in the same state.
        init(state: String, after earlier: Reading?) {
            self.init(state: state, verified: earlier?.state == state ? earlier?.verified : nil)
        }
    }
}

extension Archive {
    /// What is known about the file: what the last verification found, unless the file has changed since; `nil` if it
    /// isn't there.
    package func verificationCode(_ availability: Availability) -> VerificationCode? {
        switch availability {
        case .available: verified?.code ?? .notVerified
        case .changed: .changed
        case .unavailable, .missing: nil
        }
    }

    private enum CodingKeys: String, CodingKey {
        case id, title, sha256, size, originalName, importedAt, createdAt, description, software, waczVersion
        case pageCount, pagesDetected, captureCount, firstCapture, lastCapture, mainPage, verification,
            verificationSummary,
            findingCounts,
            replayCollection, file, availability, showsUncovered
        case lookups, lookupsReason, tags, notes, storage, linkedPath, saved
    }

    /// The page that opens first.
    package struct MainPage: Encodable, Sendable {
        let url: String
        let timestamp: String?
    }

    /// The page that opens first; `nil` if there is none.
    package var mainPage: MainPage? {
        summary.mainPageURL.map { MainPage(url: $0, timestamp: summary.mainPageTimestamp) }
    }

    /// Encodes everything but what has to be read from the file.
    fileprivate func encode(to encoder: any Encoder, _ availability: Availability) throws {
        try encodeSummary(to: encoder, availability)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(summary.createdAt.map(RFC3339.text), forKey: .createdAt)
        try container.encodeIfPresent(summary.description, forKey: .description)
        try container.encodeIfPresent(summary.software, forKey: .software)
        try container.encodeIfPresent(summary.waczVersion, forKey: .waczVersion)
        try container.encodeIfPresent(summary.lookups.map { $0.usesSidecar ? "sidecar" : "in-place" }, forKey: .lookups)
        try container.encodeIfPresent(summary.lookups?.reason, forKey: .lookupsReason)
        try container.encode(entry.notes, forKey: .notes)
        try container.encodeIfPresent(storage.linkedFile?.path, forKey: .linkedPath)
        try container.encodeIfPresent(entry.saved, forKey: .saved)
    }

    /// Encodes what a list of many archives shows.
    func encodeSummary(to encoder: any Encoder, _ availability: Availability) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id.text, forKey: .id)
        try container.encode(entry.title, forKey: .title)
        try container.encode(entry.tags, forKey: .tags)
        try container.encodeIfPresent(sha256, forKey: .sha256)
        try container.encode(size, forKey: .size)
        try container.encode(storage.name, forKey: .storage)
        try container.encode(entry.originalName, forKey: .originalName)
        try container.encode(RFC3339.text(of: entry.importedAt), forKey: .importedAt)
        try container.encode(pageCount, forKey: .pageCount)
        if hasDetectedPages { try container.encode(true, forKey: .pagesDetected) }
        try container.encode(summary.captureCount, forKey: .captureCount)
        try container.encodeIfPresent(summary.firstCapture.flatMap(RFC3339.text(ofTimestamp:)), forKey: .firstCapture)
        try container.encodeIfPresent(summary.lastCapture.flatMap(RFC3339.text(ofTimestamp:)), forKey: .lastCapture)
        try container.encodeIfPresent(mainPage, forKey: .mainPage)
        try container.encode(availability, forKey: .availability)
        try container.encodeIfPresent(verificationCode(availability), forKey: .verification)
        try container.encodeIfPresent(verified, forKey: .verificationSummary)
        try container.encode(summary.findingCounts, forKey: .findingCounts)
        try container.encode(replayCollection, forKey: .replayCollection)
        try container.encode(filePath, forKey: .file)
        if entry.showsUncovered { try container.encode(true, forKey: .showsUncovered) }
    }
}

/// An archive with its availability, as lists show it.
package struct ListedArchive: Sendable, Hashable, Encodable {
    package let archive: Archive
    package let availability: Availability

    package func encode(to encoder: any Encoder) throws {
        try archive.encode(to: encoder, availability)
    }
}

/// An archive with its findings, as `info` and `/api/archives/ID` show it.
package struct ArchiveDetails: Sendable, Hashable, Encodable {
    package let archive: Archive
    package let availability: Availability
    package let findings: [Finding]
    /// The collections that contain the archive.
    package let collections: [ArchiveID]
    /// What can be searched; `nil` before indexing has started.
    package let text: IndexedText?
    /// The last verification; `nil` before the first.
    package let verification: VerificationReport?
    /// Whether the archive contains a picture of itself, as far as it was read.
    package var hasThumbnail = false
    /// The URL of the page of which that picture is a screenshot.
    package var picturedPage: String?
    /// The files from which this one was made, by its own description.
    package var sources: [ArchiveSource] = []

    private enum CodingKeys: String, CodingKey {
        case findings, collections, text, thumbnail, picturedPage, sources
        case verification = "verificationReport"
    }

    package func encode(to encoder: any Encoder) throws {
        try archive.encode(to: encoder, availability)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(findings, forKey: .findings)
        try container.encode(collections.map(\.text), forKey: .collections)
        try container.encodeIfPresent(text, forKey: .text)
        try container.encodeIfPresent(verification, forKey: .verification)
        if hasThumbnail { try container.encode(archive.thumbnailPath, forKey: .thumbnail) }
        try container.encodeIfPresent(picturedPage, forKey: .picturedPage)
        if !sources.isEmpty { try container.encode(sources, forKey: .sources) }
    }
}

/// A file from which an archive was made.
package struct ArchiveSource: Sendable, Hashable, Encodable {
    package let title: String?
    /// The name of the file, or its URL.
    package let path: String?
    package let sha256: String?
    /// The archive in the library that is this file.
    package let archive: ArchiveID?
}

/// A page of an archive, in the archive's order.
package struct ArchivePage: Sendable, Hashable, Encodable {
    package let position: Int
    /// `pages` or `extraPages`; `detected` if the archive has no page list.
    package let list: String
    package let url: String
    package let timestamp: String?
    package let title: String?
    /// The archive that lists the page; only set in lists of several archives' pages.
    package var archiveID: ArchiveID?
    /// The number of pages with this URL; only set in lists that have the newest of them.
    package var copies: Int?

    private enum CodingKeys: String, CodingKey {
        case position, list, url, timestamp, capturedAt, title, archive, copies
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
        try container.encodeIfPresent(copies, forKey: .copies)
    }
}

/// An entry of an archive's index: what was captured, and when.
package struct CaptureSummary: Sendable, Hashable, Encodable {
    package let url: String
    /// The indexed URL of a request other than `GET`, with method and body in its query.
    package var request: String?
    package let timestamp: String
    package let status: Int?
    package let mime: String?
    /// The archive that has the capture; only set in lists of several archives' captures.
    package var archiveID: ArchiveID?
    /// What is known of it; only set for a capture whose record was opened.
    package var trust: CaptureTrust?

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
        try trust?.encode(to: encoder)
    }
}

/// Conversion of times to and from RFC 3339, in UTC.
package enum RFC3339 {
    /// Returns the time to the second.
    package static func text(of date: Date) -> String {
        date.formatted(.iso8601)
    }

    /// Returns the current time, rounded to microseconds as in sidecars.
    static func now() -> Date {
        date(preciseText(of: Date())) ?? Date()
    }

    /// Returns the time to the microsecond, always with six digits, so that texts sort like times.
    static func preciseText(of date: Date) -> String {
        let micros = Int64((date.timeIntervalSince1970 * 1_000_000).rounded())
        let fraction = ((micros % 1_000_000) + 1_000_000) % 1_000_000
        let digits = String(fraction)
        let second = Date(timeIntervalSince1970: Double((micros - fraction) / 1_000_000))
        return text(of: second).dropLast() + "." + String(repeating: "0", count: 6 - digits.count) + digits + "Z"
    }

    /// Parses both forms.
    package static func date(_ text: String) -> Date? {
        parsed(text).flatMap { abs($0.timeIntervalSince1970) <= secondsMax ? $0 : nil }
    }

    /// Seconds from 1970 to the year 10000, so that microseconds fit into 64 bits.
    private static let secondsMax = 253_402_300_800.0

    private static func parsed(_ text: String) -> Date? {
        guard let dot = text.lastIndex(of: "."), text.hasSuffix("Z") else {
            return try? Date(text, strategy: .iso8601)
        }
        let digits = text[text.index(after: dot)...].dropLast()
        guard digits.utf8.count == 6, let micros = Int(digits) else { return nil }
        return (try? Date(text[..<dot] + "Z", strategy: .iso8601))?.addingTimeInterval(Double(micros) / 1_000_000)
    }

    /// Returns the time of a 14- or 17-digit timestamp; `nil` if it isn't valid.
    package static func text(ofTimestamp digits: String) -> String? {
        CaptureTimestamp(digits: digits).map { text(of: $0.date) }
    }
}
