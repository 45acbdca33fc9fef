package import WebArchive

/// A WARC record as it is in an archive's file, without its body.
package struct CaptureRecord: Sendable, Encodable {
    /// The archive that has the record.
    package let archiveID: ArchiveID
    /// The index entry that names the record.
    package let entry: CDXJEntry
    /// The name of the WARC file in the package; `nil` if it's missing.
    package let file: String?
    /// The record's header; `nil` if it can't be read.
    package var header: WARCRecord?
    /// The fields of the HTTP header in the record; `nil` if it has none.
    package var http: HeaderFields?
    /// The SHA-256 of the record's bytes in the WARC file; `nil` unless it was asked for and they can be read.
    package var sha256: String?
    /// What comparing the record with the digests in its header found; `nil` unless it was asked for and the header can be read.
    package var comparison: RecordComparison?
    /// The title of the HTML document; `nil` unless it was asked for, or if there is none.
    package var title: String?
    /// The reason why the record can't be read.
    package var problem: String?
    /// What is known of what is shown for it; `nil` for a record that isn't shown.
    package var trust: CaptureTrust?
    /// The record whose content replay shows in place of this one's, if this is a revisit or only says that nothing had
    /// changed; empty if there's none, or if it isn't in the archive or those that it requires.
    package var repeated: [CaptureRecord] = []

    /// What is read of a record only if it's asked for.
    package struct Extras: Sendable {
        /// Whether to read the record to its end, and hash it.
        let hashes: Bool
        /// Whether to read the record to its end, and compare it with its digests.
        let digests: Bool
        /// Whether to read the document's title.
        let title: Bool

        package init(hashes: Bool = false, digests: Bool = false, title: Bool = false) {
            (self.hashes, self.digests, self.title) = (hashes, digests, title)
        }
    }

    private enum CodingKeys: String, CodingKey {
        case archive, url, timestamp, status, mime, digest, file, offset, length, isCompressed, warcVersion, record,
            http
        case sha256, digests, title, problem, repeats
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(archiveID.text, forKey: .archive)
        try container.encode(entry.url, forKey: .url)
        try container.encode(entry.timestamp, forKey: .timestamp)
        try container.encodeIfPresent(entry.status, forKey: .status)
        try container.encodeIfPresent(entry.mime, forKey: .mime)
        try container.encodeIfPresent(entry.digest, forKey: .digest)
        try container.encodeIfPresent(file, forKey: .file)
        try container.encode(entry.offset, forKey: .offset)
        try container.encodeIfPresent(entry.length, forKey: .length)
        try container.encodeIfPresent(header?.isCompressed, forKey: .isCompressed)
        try container.encodeIfPresent(header?.version, forKey: .warcVersion)
        try container.encodeIfPresent(header.map { Self.pairs($0.headers) }, forKey: .record)
        try container.encodeIfPresent(http.map(Self.pairs), forKey: .http)
        try container.encodeIfPresent(sha256, forKey: .sha256)
        try container.encodeIfPresent(comparison, forKey: .digests)
        try container.encodeIfPresent(title, forKey: .title)
        try container.encodeIfPresent(problem, forKey: .problem)
        try container.encodeIfPresent(repeated.first, forKey: .repeats)
        try trust?.encode(to: encoder)
    }

    private static func pairs(_ fields: HeaderFields) -> [[String]] { fields.fields.map { [$0.name, $0.value] } }
}

extension Resolver {
    /// Returns the records of a URL at a time, as the index of an archive lists them, at most `recordsMax`.
    ///
    /// - Parameters:
    ///   - url: The URL as indexed.
    ///   - timestamp: The timestamp as indexed.
    ///   - wanted: What else to read.
    ///   - isWanted: See `closestCapture(_:in:isWanted:)`.
    package func records(
        ofURL url: String, at timestamp: String, in archive: Archive, _ wanted: CaptureRecord.Extras,
        isWanted: @escaping () -> Bool
    ) throws -> [CaptureRecord] {
        let check = CancellationCheck(isWanted)
        return try StoreError.refusingDamage {
            let index = try openArchives.lookups(archive, allowances)
            let entries = try index.wacz.captures(ofURL: url)
            return try entries.filter { $0.url == url && $0.timestamp == timestamp }.prefix(Self.recordsMax).map {
                var record = try record(of: $0, in: index, wanted, check)
                record.trust = try trust(in: (index, $0), collection: [archive], check)
                if wanted.title { record.title = try title(of: $0, in: archive, isWanted: isWanted) }
                return record
            }
        }
    }

    private func record(
        of entry: CDXJEntry, in index: IndexedArchive, _ wanted: CaptureRecord.Extras, _ check: CancellationCheck
    ) throws -> CaptureRecord {
        var record = CaptureRecord(archiveID: index.archive.id, entry: entry, file: index.wacz.warcName(of: entry))
        do {
            let content = try index.wacz.content(of: entry, check)
            (record.header, record.http) = (content.record, content.head?.fields)
            if wanted.hashes { record.sha256 = try index.wacz.recordSHA256(of: entry, check) }
            if wanted.digests { record.comparison = try content.compareWithDigests(check) }
            if content.record.isRevisit || content.isNotModified {
                var resolver = revisitResolver([index.archive], check)
                if let payload = try resolver.payload(of: content, entry, in: index) {
                    record.repeated = [try self.record(of: payload.entry, in: payload.source, wanted, check)]
                }
            }
        } catch let error as WebArchiveError where ![.io, .cancelled].contains(error.code) {
            record.problem = error.problem
        }
        return record
    }

    /// Returns the title of an HTML document; `nil` if it has none, or can't be read.
    private func title(of entry: CDXJEntry, in archive: Archive, isWanted: @escaping () -> Bool) throws -> String? {
        let request = ArchiveStore.CaptureRequest(url: entry.url, time: entry.captureTime)
        do {
            // For a revisit, the document is in another record.
            let capture = try openCapture(request, in: [archive], allowsFuzzyMatch: false, isWanted: isWanted)
            return try capture.flatMap { try $0.entry == entry ? $0.documentTitle() : nil }
        } catch let error as WebArchiveError where ![.io, .cancelled].contains(error.code) {
            return nil
        } catch let error as StoreError where [.payloadMissing, .redirectsToItself].contains(error.code) {
            return nil
        }
    }

    private static let recordsMax = 100
}

extension OpenCapture {
    /// Returns the title of an HTML document; `nil` for other types, or if the first MiB has none.
    func documentTitle() throws -> String? {
        guard let mime, DocumentText.htmlTypes.contains(mime) else { return nil }
        struct Enough: Error {}
        let first = FirstTitle()
        var document = document
        var count = 0
        do {
            try document.readHTML(sink: first.add) { bytes, _ in
                count += bytes
                if first.title != nil || count > 1 << 20 { throw Enough() }
            }
        } catch is Enough {}
        return first.title
    }
}

private final class FirstTitle {
    private(set) var title: String?

    func add(_ part: HTMLTextReader.Part, _ line: [UInt8]) {
        if part == .title, title == nil { title = String(decoding: line, as: UTF8.self) }
    }
}
