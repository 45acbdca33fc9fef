/// What a verification asks about the archive.
package protocol VerificationLookups: AnyObject {
    /// Whether a page was captured.
    func isCaptured(_ page: Page) throws -> Bool
    /// Returns what replay can't find of a capture that has no payload of its own; `nil` if it finds the payload.
    ///
    /// - Throws: `WebArchiveError` if a record can't be read.
    func missingPayload(of revisit: CDXJEntry) throws -> MissingPayload?
}

/// Looks captures up in the file alone.
package final class FileLookups: VerificationLookups {
    private let wacz: WACZFile
    private var resolver = RevisitResolver<WACZFile>(CancellationCheck())

    /// Creates lookups for a file.
    package init(_ wacz: WACZFile) {
        self.wacz = wacz
    }

    package func isCaptured(_ page: Page) throws -> Bool {
        try wacz.closestCapture(toURL: page.url, at: page.captureTime) != nil
    }

    package func missingPayload(of revisit: CDXJEntry) throws -> MissingPayload? {
        let own = try wacz.content(of: revisit, CancellationCheck())
        return try resolver.payload(of: own, revisit, in: wacz) == nil ? MissingPayload(of: own, revisit) : nil
    }
}

/// The content of a capture that is stored with another one, in another archive.
package struct MissingPayload: Sendable, Hashable, Codable {
    /// The URL of the capture that is incomplete without it.
    package let url: String
    /// The time of that capture, as in the index.
    package let timestamp: String
    /// The URL of the capture that has the content; `nil` if only a capture of the same URL can have it.
    package let storedURL: String?
    /// The time of the capture that has the content, as recorded; `nil` if that isn't known.
    package let storedAt: String?
    /// The ID of the record that has the content.
    package let record: String?
    /// The file that has the record, as the capture names it.
    package let container: String?
    /// The digest of the content.
    package let digest: String?
    /// Whether the server only said that nothing had changed, so that any earlier state of the URL is what is missing.
    package let isUnchanged: Bool

    /// - Parameter own: The content of the capture's own record.
    package init(of own: RecordContent, _ revisit: CDXJEntry) {
        let record = own.record
        (url, timestamp, isUnchanged) = (revisit.url, revisit.timestamp, own.isNotModified)
        storedURL = record.refersToTargetURI
        storedAt = Self.bounded(record.refersToDate)
        self.record = Self.bounded(record.refersTo)
        container = Self.bounded(record.refersToContainer)
        // Of an unchanged capture, it can be that of the empty body.
        digest = own.isNotModified ? nil : Self.bounded(record.payloadDigest ?? revisit.digest)
    }

    private static func bounded(_ text: String?) -> String? { text.map { String($0.prefix(300)) } }

    /// Whether it's small enough for a report.
    var isBounded: Bool { [url, storedURL ?? ""].allSatisfy { $0.utf8.count <= Finding.urlBytesMax } }

    /// Describes what is missing: “http://example.org/ of 2024-01-01T00:00:00Z (record urn:uuid:…, in first.warc.gz)”.
    package var text: String {
        if isUnchanged, storedAt == nil { return "an earlier capture, which the server only called unchanged" }
        let details = [record.map { "record \($0)" }, container.map { "in \($0)" }].compactMap { $0 }
        return String((storedURL ?? url).prefix(500)) + (storedAt.map { " of \($0)" } ?? "")
            + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
    }
}
