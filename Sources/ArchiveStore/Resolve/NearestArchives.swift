package import WebArchive

/// Archives in the order of the least distance that their captures can have to a time. Those of the library are read from
/// the catalog as they are needed.
struct NearestArchives {
    /// How many archives there are.
    let count: Int
    private var rest: ArraySlice<(key: String, distance: UInt64)>
    /// Those that were read last, by key.
    private var read: [String: Archive]
    private let catalog: Catalog

    /// How many archives are read at once.
    private static let partSize = 16

    init(_ archives: [Archive], to time: CaptureTimestamp?, catalog: Catalog) {
        self.init(archives.map(ArchiveTimes.init), to: time, catalog: catalog)
        read = Dictionary(archives.map { ($0.key, $0) }) { first, _ in first }
    }

    init(_ archives: [ArchiveTimes], to time: CaptureTimestamp?, catalog: Catalog) {
        self.catalog = catalog
        count = archives.count
        // Sorting is stable.
        rest =
            archives.map { (key: $0.key, distance: $0.distanceMin(from: time)) }.sorted { $0.distance < $1.distance }[
                ...]
        read = [:]
    }

    /// Returns the next archive, and the least distance of its captures; `nil` after the last.
    mutating func next() throws -> (archive: Archive, distance: UInt64)? {
        while let (key, distance) = rest.popFirst() {
            if let archive = read[key] { return (archive, distance) }
            let archives = try catalog.archives(keys: [key] + rest.prefix(Self.partSize - 1).map(\.key))
            read = Dictionary(archives.map { ($0.key, $0) }) { first, _ in first }
            // Otherwise it was removed meanwhile.
            if let archive = read[key] { return (archive, distance) }
        }
        return nil
    }
}

/// The key of an archive, and when its captures were made.
struct ArchiveTimes {
    let key: String
    let first: CaptureTimestamp?
    let last: CaptureTimestamp?
    /// Whether something is wrong with the archive. Its times may be wrong, too.
    let hasErrors: Bool
}

extension ArchiveTimes {
    init(_ archive: Archive) {
        self.init(
            key: archive.key, first: archive.summary.firstCapture.flatMap(CaptureTimestamp.init(digits:)),
            last: archive.summary.lastCapture.flatMap(CaptureTimestamp.init(digits:)),
            hasErrors: archive.findingCounts.error > 0)
    }

    /// Returns the least distance that a capture in the archive can have; see `CaptureRank.distance`.
    fileprivate func distanceMin(from time: CaptureTimestamp?) -> UInt64 {
        guard !hasErrors, let first, let last else { return 0 }
        guard let time else { return CaptureRank.distance(to: last, from: nil) }
        if time < first { return CaptureRank.distance(to: first, from: time) }
        return last < time ? CaptureRank.distance(to: last, from: time) : 0
    }
}

extension Resolver {
    /// Returns the archives of the library that can have captures of a URL, without opening them; newest import first.
    package func archives(mayHave url: String) throws -> [Archive] {
        try catalog.archives(
            keys: store.filters.libraryArchives(mayHave: CaptureMatcher(url: url).hashes).map(\.key))
    }

    /// Returns the archives of the library that can have lines of a query, without opening them.
    package func archives(mayMatch query: CDXQuery) throws -> [Archive] {
        let isOfURL = query.captures.matchType == .exact
        // Pages are counted by the blocks of all indexes.
        return isOfURL && query.page == nil && !query.countsPages
            ? try archives(mayHave: query.captures.url) : try catalog.allArchives()
    }

    /// Returns the index entry of the capture closest in time in the library, with its archive.
    ///
    /// - Throws, returns: As `closestCapture(_:in:isWanted:)`.
    package func closestCaptureInLibrary(
        _ request: ArchiveStore.CaptureRequest, isWanted: @escaping () -> Bool = { true }
    ) throws -> (archive: Archive, entry: CDXJEntry)? {
        try closestCopyInLibrary(CaptureLookup(request, CancellationCheck(isWanted)))
            .map { ($0.index.archive, $0.entry) }
    }
}
