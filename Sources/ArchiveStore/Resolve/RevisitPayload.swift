import WebArchive

extension IndexedArchive: CaptureFile {}

extension Resolver {
    /// Returns what finds the payload of revisits in their archive, in its collection, and in the archives that it requires.
    ///
    /// - Parameter collection: The archives that replay together.
    func revisitResolver(_ collection: [Archive], _ check: CancellationCheck) -> RevisitResolver<IndexedArchive> {
        RevisitResolver(check) { index, urls in
            let others = collection.filter { $0.key != index.archive.key }
            return try store.filters.archives(others, mayHave: urls.flatMap(\.hashes)).bestCopiesFirst(in: layout)
                .compactMap { try opened($0, amongSeveral: true) }
        } required: { index in
            try requiredArchives(of: index).filter { $0.availability(in: layout) == .available }
                .map { try openArchives.lookups($0, allowances) }
        }
    }

    /// Returns the payload of a capture that has none of its own.
    ///
    /// - Parameter own: The content of the capture's own record.
    /// - Throws: `StoreError` `payloadMissing`.
    func repeatedPayload(
        of own: RecordContent, _ entry: CDXJEntry, in index: IndexedArchive, collection: [Archive],
        _ check: CancellationCheck
    ) throws -> RevisitResolver<IndexedArchive>.Payload {
        var resolver = revisitResolver(collection, check)
        if let found = try resolver.payload(of: own, entry, in: index) { return found }
        let scope = collection.contains { $0.key != index.archive.key } ? "this collection" : "this archive"
        let place = "\(index.archive.id).wacz"
        if own.isNotModified {
            throw StoreError(
                .payloadMissing,
                "the server only answered that nothing had changed, and what it had sent before wasn't found in \(scope)",
                place: place)
        }
        let target = own.record.refersToTargetURI ?? entry.url
        let requires = try requiredArchives(of: index).contains { $0.availability(in: layout) == .available }
        throw StoreError(
            .payloadMissing,
            "this capture's content is stored with another capture (\(target)), which isn't in "
                + (requires ? "\(scope) or the archives it requires" : scope),
            place: place, hint: requires ? "import the archive that this one was deduplicated against" : nil)
    }
}
