package import WebArchive

/// An archive of the library with content that another archive lacks.
package struct PayloadHolder: Sendable, Hashable, Encodable {
    /// How the content was recognized.
    package enum Match: String, Sendable, Hashable, Encodable {
        /// It has the digest that the incomplete capture states.
        case digest
        /// It has the URL and time that the incomplete capture states; there is no digest to compare.
        case capture
        /// It's an earlier state of the URL, which the server later called unchanged.
        case earlier
    }

    /// What is known of a file with the name of one that the incomplete archive requires.
    package enum RequiredBytes: String, Sendable, Hashable, Encodable {
        /// The required file has another SHA-256.
        case other
        /// The SHA-256 of the required file isn't stated, or that of this one isn't known yet.
        case unknown
    }

    /// The archive's ID.
    package let archive: String
    package let title: String
    /// The URL and the time of the capture with the content.
    package let url: String
    package let timestamp: String
    package let match: Match
    /// The name of a required file that the archive has too; `nil` if none is required by this name.
    package let requiredName: String?
    package let requiredBytes: RequiredBytes?
}

/// Finds archives of the library that have the payload of a revisit.
///
/// The result is only for the person: replay doesn't use it, so that an archive can't find out what others have.
struct PayloadSearch {
    private let resolver: Resolver
    private let check: CancellationCheck

    /// How many archives are opened for one capture.
    private static let archivesMax = 20
    static let listedMax = 5

    /// - Parameter check: Ends the search early.
    init(_ resolver: Resolver, _ check: CancellationCheck) {
        (self.resolver, self.check) = (resolver, check)
    }

    /// Returns archives with which a capture would be complete in a collection. Those that the archive requires by name come
    /// first.
    ///
    /// - Parameters:
    ///   - own: The content of the capture's own record.
    ///   - collection: The archives that replay together with it already.
    func holders(
        of own: RecordContent, _ entry: CDXJEntry, in index: IndexedArchive, besides collection: [Archive]
    ) throws -> [PayloadHolder] {
        let together = collection.contains { $0.key == index.archive.key } ? collection : [index.archive]
        let keys = Set(together.map(\.key))
        let names = Self.requiredNames(own, try resolver.requirements(of: index.archive, index.wacz.dataPackage))
        let named = try resolver.catalog.archives(originalNames: names.map(\.name)).filter { !keys.contains($0.key) }
        let urls = [own.record.refersToTargetURI, own.record.targetURI, entry.url].compactMap { $0 }
        let others = try resolver.store.filters.libraryArchives(
            mayHave: urls.flatMap { CaptureMatcher(url: $0).hashes }
        ).filter { other in !keys.contains(other.key) && !named.contains { $0.key == other.key } }
        let time = own.record.refersToTime ?? entry.captureTime
        var nearest = NearestArchives(others, to: time, catalog: resolver.catalog)
        var rest = named[...]
        var holders: [PayloadHolder] = []
        var opened = 0
        while opened < Self.archivesMax, holders.count < Self.listedMax,
            let archive = try rest.popFirst() ?? nearest.next()?.archive
        {
            guard archive.availability(in: resolver.layout) == .available else { continue }
            opened += 1
            do {
                var repeated = resolver.revisitResolver(together + [archive], check)
                let found = try repeated.payload(of: own, entry, in: index)
                guard let found, found.source.archive.key == archive.key else { continue }
                holders.append(holder(found, own, entry, names.first { $0.name == archive.originalName }))
            } catch let error as WebArchiveError where error.code == .cancelled {
                break
            } catch is WebArchiveError {
                // Damaged.
            } catch let error as StoreError where error.code != .unusable {
                // Removed or damaged meanwhile.
            }
        }
        return holders
    }

    private func holder(
        _ found: RevisitResolver<IndexedArchive>.Payload, _ own: RecordContent, _ entry: CDXJEntry,
        _ named: RequiredName?
    ) -> PayloadHolder {
        let digest = own.isNotModified ? nil : own.record.payloadDigest ?? entry.digest
        // Then it was hashed.
        let hasDigest = digest.flatMap { WARCDigest($0) } != nil
        let isNamed = own.record.refersToTime?.digits14 == found.entry.captureTime?.digits14
        return PayloadHolder(
            archive: found.source.archive.id.text, title: found.source.archive.title, url: found.entry.url,
            timestamp: found.entry.timestamp,
            match: hasDigest ? .digest : own.isNotModified && !isNamed ? .earlier : .capture,
            requiredName: named?.name,
            // A linked file may not have been hashed yet.
            requiredBytes: named.map { $0.hasHash && found.source.archive.sha256 != nil ? .other : .unknown })
    }

    // Names -------------------------------------------------------------------------------------------------------

    private struct RequiredName {
        let name: String
        /// Whether a SHA-256 is stated, which no archive of the library has.
        let hasHash: Bool
    }

    /// Returns the names of required files that can't be found by their SHA-256: those of WACZ 1.2.0 draft,
    /// `relation.requires`, and of `WARC-Refers-To-Container`, which Browsertrix writes (`file://public.wacz`).
    private static func requiredNames(
        _ own: RecordContent, _ requirements: [(requirement: DataPackage.Requirement, archive: Archive?)]
    ) -> [RequiredName] {
        let listed = requirements.filter { $0.archive == nil }.compactMap { requirement, _ in
            requirement.filename.map { RequiredName(name: fileName($0), hasHash: requirement.sha256 != nil) }
        }
        let container = own.record.refersToContainer.map(fileName)
        let isListed = listed.contains { $0.name == container }
        // The container of this capture first.
        let names =
            (isListed ? [] : container.map { [RequiredName(name: $0, hasHash: false)] } ?? [])
            + listed.filter { $0.name == container } + listed.filter { $0.name != container }
        return Array(names.filter { !$0.name.isEmpty }.prefix(namesMax))
    }

    private static let namesMax = 20

    private static func fileName(_ path: String) -> String {
        String(path.split(whereSeparator: { "/\\".contains($0) }).last ?? "")
    }
}

extension Resolver {
    /// Returns archives of the library with which captures that a verification found incomplete would be complete.
    ///
    /// - Parameter collection: The archives that replay together with it already.
    package func holders(
        of missing: [MissingPayload], in archive: Archive, besides collection: [Archive]
    ) throws -> [PayloadHolder] {
        let end = ContinuousClock.now + .seconds(2)
        let check = CancellationCheck { ContinuousClock.now < end }
        let search = PayloadSearch(self, check)
        let index = try openArchives.lookups(archive, allowances)
        var holders: [PayloadHolder] = []
        for one in missing.prefix(Self.missingMax) where ContinuousClock.now < end {
            let request = ArchiveStore.CaptureRequest(url: one.url, time: CaptureTimestamp(digits: one.timestamp))
            let entry = try index.closestCapture(CaptureLookup(request)) {
                $0.url == one.url && $0.timestamp == one.timestamp
            }
            guard let entry else { continue }
            let own: RecordContent
            do throws(WebArchiveError) {
                own = try index.wacz.content(of: entry, check)
            } catch {
                // Time is over, or the record is damaged, which is an issue already.
                guard error.code != .io else { throw error }
                continue
            }
            for holder in try search.holders(of: own, entry, in: index, besides: collection)
            where !holders.contains(where: { $0.archive == holder.archive }) {
                holders.append(holder)
            }
        }
        return Array(holders.prefix(PayloadSearch.listedMax))
    }

    private static let missingMax = 10
}
