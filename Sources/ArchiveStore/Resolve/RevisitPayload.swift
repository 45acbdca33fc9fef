import Foundation
import Synchronization
package import WebArchive

extension IndexedArchive: CaptureFile {
    package func hasPayload(
        _ content: RecordContent, _ digest: WARCDigest, _ check: CancellationCheck
    ) throws -> Bool {
        guard let file = wacz.source as? FileByteSource else { return try content.hasPayload(digest, check) }
        return try comparedPayloads.result(content.record, digest, in: file) { try content.hasPayload(digest, check) }
    }
}

/// Which payloads of an open archive have which digests, so that a video isn't hashed for each request of a part of it.
///
/// A result belongs to the file in its state then.
final class ComparedPayloads: Sendable {
    private struct Comparison: Hashable {
        let file: String
        let offset: UInt64
        let digest: WARCDigest
    }

    private let known = Mutex<(state: String, results: [Comparison: Bool])>(("", [:]))
    private static let resultsMax = 4096

    /// Returns the result of a comparison, made if it isn't known; `false` if the file changes meanwhile.
    func result(
        _ record: WARCRecord, _ digest: WARCDigest, in file: FileByteSource, _ compare: () throws -> Bool
    ) throws -> Bool {
        let comparison = Comparison(file: record.file, offset: record.offset, digest: digest)
        let state = Self.state(of: file)
        if let result = known.withLock({ $0.state == state ? $0.results[comparison] : nil }) { return result }
        let result = try compare()
        guard let state, Self.state(of: file) == state else { return false }
        known.withLock { known in
            if known.state != state || known.results.count >= Self.resultsMax { known = (state, [:]) }
            known.results[comparison] = result
        }
        return result
    }

    private static func state(of file: FileByteSource) -> String? {
        var status = stat()
        return fstat(file.descriptor, &status) == 0 ? status.state : nil
    }
}

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
