import WebArchive

extension Resolver {
    /// Finds the payload that a revisit points at: in its own archive, else in its collection, else in those that the package requires.
    ///
    /// Looked for in this order: the capture that `WARC-Refers-To-Target-URI` and `-Date` name (WARC 1.1 §5.13, §5.14), then
    /// the closest one of the same URL whose digest is the same. A capture with another digest is never taken; in another
    /// archive none without a digest either, so that an archive gets nothing out of another one that it does not know already.
    ///
    /// - Throws: `StoreError` `payloadMissing`.
    func revisitPayload(
        of record: WARCRecord, _ entry: CDXJEntry, in index: IndexedArchive, collection: [IndexedArchive],
        _ check: CancellationCheck
    ) throws -> (RecordContent, OpenCapture.PayloadPlace) {
        let digest = record.payloadDigest ?? entry.digest
        let lookups = Self.payloadLookups(record, entry, check)
        if let found = try payload(of: entry, lookups, digest: digest, in: index, isOther: false) {
            return found
        }
        // The members of a collection are one archive to whoever made it.
        let others = collection.filter { $0.archive.key != index.archive.key }
        for other in others {
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
        let own = others.isEmpty ? "this archive" : "this collection"
        let files = required.isEmpty ? own : "\(own) or the ones that it requires"
        throw StoreError(
            .payloadMissing, "the capture repeats an earlier one (\(target)) that is not in \(files)",
            place: "\(index.archive.id).wacz",
            hint: required.isEmpty ? nil : "import the archive that this one was deduplicated against")
    }

    /// The URLs under which the payload may be, each once.
    private static func payloadLookups(
        _ record: WARCRecord, _ entry: CDXJEntry, _ check: CancellationCheck
    ) -> [CaptureLookup] {
        let date = record.refersToDate.flatMap { CaptureTimestamp(rfc3339: $0) } ?? entry.captureTime
        let urls = [record.refersToTargetURI, record.targetURI, entry.url].compactMap { $0 }
        return urls.enumerated().filter { urls.firstIndex(of: $0.element) == $0.offset }
            .map { CaptureLookup(ArchiveStore.CaptureRequest(url: $0.element, time: date), check) }
    }

    private func payload(
        of entry: CDXJEntry, _ lookups: [CaptureLookup], digest: String?, in index: IndexedArchive, isOther: Bool
    ) throws -> (RecordContent, OpenCapture.PayloadPlace)? {
        for lookup in lookups {
            let best = try index.closestCapture(lookup) {
                // ArchiveWeb.page lets a `POST` repeat a `GET` with the same payload.
                !$0.isRevisit && Self.mayBeEqual($0.digest, digest)
                    && (($0.method ?? "GET") == (entry.method ?? "GET") || Self.areEqual($0.digest, digest))
            }
            guard let best else { continue }
            let content = try index.wacz.content(of: best, lookup.check)
            // An index may call a revisit by the type of its payload.
            guard !content.record.isRevisit else { continue }
            guard !isOther || Self.areEqual(content.record.payloadDigest, digest) else { continue }
            let place = OpenCapture.PayloadPlace(archiveID: index.archive.id, url: best.url, timestamp: best.timestamp)
            return (content, place)
        }
        return nil
    }

    private static func areEqual(_ one: String?, _ other: String?) -> Bool {
        guard let one = one.flatMap({ WARCDigest($0) }), let other = other.flatMap({ WARCDigest($0) }) else {
            return false
        }
        return one == other
    }

    /// Whether two digests can be of the same bytes; unknown ones and those of different algorithms can.
    private static func mayBeEqual(_ one: String?, _ other: String?) -> Bool {
        guard let one = one.flatMap({ WARCDigest($0) }), let other = other.flatMap({ WARCDigest($0) }),
            one.algorithm == other.algorithm
        else { return true }
        return one == other
    }
}
