import WebArchive

extension Resolver {
    /// Finds the payload of a revisit: in its archive, else in its collection, else in the archives that its archive
    /// requires.
    ///
    /// Searches first for the capture in `WARC-Refers-To-Target-URI` and `-Date` (WARC 1.1 §5.13, §5.14), then for the
    /// closest capture of the same URL. The digests must match. In a required archive a digest is mandatory, so that an
    /// archive can't read content from another one that it doesn't already know.
    ///
    /// - Throws: `StoreError` `payloadMissing`.
    func revisitPayload(
        of record: WARCRecord, _ entry: CDXJEntry, in index: IndexedArchive, collection: [Archive],
        _ check: CancellationCheck
    ) throws -> (RecordContent, OpenCapture.PayloadCapture) {
        let digest = record.payloadDigest ?? entry.digest
        let lookups = Self.payloadLookups(record, entry, check)
        if let found = try payload(of: entry, lookups, digest: digest, in: index, isOther: false) {
            return found
        }
        let others = collection.filter { $0.key != index.archive.key }
        let hashes = lookups.flatMap(\.matcher.hashes)
        for other in try store.filters.archives(others, mayHave: hashes).bestCopiesFirst {
            guard let other = try opened(other, amongSeveral: true) else { continue }
            if let found = try payload(of: entry, lookups, digest: digest, in: other, isOther: false) {
                return found
            }
        }
        let required = try requiredArchives(of: index).filter { $0.availability(in: layout) == .available }
        for other in required {
            if let found = try payload(
                of: entry, lookups, digest: digest, in: openArchives.lookups(other), isOther: true)
            {
                return found
            }
        }
        let target = record.refersToTargetURI ?? entry.url
        let scope = others.isEmpty ? "this archive" : "this collection"
        let searched = required.isEmpty ? scope : "\(scope) or the archives it requires"
        throw StoreError(
            .payloadMissing,
            "this capture's content is stored with another capture (\(target)), which isn't in \(searched)",
            place: "\(index.archive.id).wacz",
            hint: required.isEmpty ? nil : "import the archive that this one was deduplicated against")
    }

    /// Returns lookups for the URLs under which the payload may be, without duplicates.
    private static func payloadLookups(
        _ record: WARCRecord, _ entry: CDXJEntry, _ check: CancellationCheck
    ) -> [CaptureLookup] {
        let date = record.refersToDate.flatMap { CaptureTimestamp(rfc3339: $0) } ?? entry.captureTime
        let urls = [record.refersToTargetURI, record.targetURI, entry.url].compactMap { $0 }
            .filter { $0.utf8.count <= Limits.standard.urlBytesMax }
        return urls.enumerated().filter { urls.firstIndex(of: $0.element) == $0.offset }
            .map { CaptureLookup(ArchiveStore.CaptureRequest(url: $0.element, time: date), check) }
    }

    private func payload(
        of entry: CDXJEntry, _ lookups: [CaptureLookup], digest: String?, in index: IndexedArchive, isOther: Bool
    ) throws -> (RecordContent, OpenCapture.PayloadCapture)? {
        for lookup in lookups {
            let best = try index.closestCapture(lookup) {
                // ArchiveWeb.page writes revisits of a `GET` for a `POST` with the same payload.
                !$0.isRevisit && Self.mayBeEqual($0.digest, digest)
                    && (($0.method ?? "GET") == (entry.method ?? "GET") || Self.areEqual($0.digest, digest))
            }
            guard let best else { continue }
            let content = try index.wacz.content(of: best, lookup.check)
            // An index may not mark a revisit as one.
            guard !content.record.isRevisit else { continue }
            guard !isOther || Self.areEqual(content.record.payloadDigest, digest) else { continue }
            let capture = OpenCapture.PayloadCapture(
                archiveID: index.archive.id, url: best.url, timestamp: best.timestamp)
            return (content, capture)
        }
        return nil
    }

    private static func areEqual(_ one: String?, _ other: String?) -> Bool {
        guard let one = one.flatMap({ WARCDigest($0) }), let other = other.flatMap({ WARCDigest($0) }) else {
            return false
        }
        return one == other
    }

    /// Whether two digests can belong to the same bytes; `true` for unknown digests and different algorithms.
    private static func mayBeEqual(_ one: String?, _ other: String?) -> Bool {
        guard let one = one.flatMap({ WARCDigest($0) }), let other = other.flatMap({ WARCDigest($0) }),
            one.algorithm == other.algorithm
        else { return true }
        return one == other
    }
}
