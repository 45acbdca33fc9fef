package import WebArchive

/// What the index of an archive lists, counted: sites, types and months.
///
/// Counts what a list of URLs without a filter includes, so `urn:` records are left out. A URL is an index key.
package struct IndexCounts: Codable, Sendable, Hashable {
    /// The captures and URLs of a site.
    package struct Site: Codable, Sendable, Hashable {
        /// The host as in index keys, with its port: `example.org`, without `www.` if the indexer dropped it. For URLs
        /// without a host, the scheme with a colon. At most 260 bytes.
        package let host: String
        package fileprivate(set) var captures: Int
        package fileprivate(set) var urls: Int
    }

    /// The sum over all other sites.
    package struct OtherSites: Codable, Sendable, Hashable {
        package fileprivate(set) var sites = 0
        package fileprivate(set) var captures = 0
        package fileprivate(set) var urls = 0
    }

    /// The captures of a media class.
    package struct TypeCount: Codable, Sendable, Hashable {
        package let type: MediaClass
        package let captures: Int
    }

    /// The captures of a month.
    package struct Month: Codable, Sendable, Hashable {
        /// `2024-05`, in UTC.
        package let month: String
        package let captures: Int
    }

    package fileprivate(set) var captures = 0
    package fileprivate(set) var urls = 0
    /// The sites with the most captures, at most `sitesMax`.
    package fileprivate(set) var sites: [Site] = []
    /// The sum over the sites that aren't in `sites`.
    package fileprivate(set) var otherSites = OtherSites()
    /// The classes that have captures, those with the most first.
    package fileprivate(set) var types: [TypeCount] = []
    /// The months that have captures, in order.
    package fileprivate(set) var months: [Month] = []

    /// The maximum number of sites that are listed.
    package static let sitesMax = 1000
}

/// Counts captures in the order of their keys, in bounded memory.
struct IndexCounter {
    private var counts = IndexCounts()
    private var types: [MediaClass: Int] = [:]
    /// The captures of each month, by its year and month as six digits.
    private var months: [String: Int] = [:]
    private var key: String?
    /// The site of the last capture, which may have more.
    private var site: IndexCounts.Site?

    /// Adds a capture, whose key must not be below that of the previous one.
    mutating func add(_ entry: CDXJEntry) {
        let isNewURL = entry.urlKey != key
        if isNewURL {
            key = entry.urlKey
            counts.urls += 1
            let host = Self.host(of: entry.urlKey)
            if host != site?.host {
                closeSite()
                site = IndexCounts.Site(host: host, captures: 0, urls: 0)
            }
            site?.urls += 1
        }
        site?.captures += 1
        counts.captures += 1
        types[entry.mediaClass, default: 0] += 1
        // A timestamp without a month means January.
        let month =
            entry.timestamp.utf8.count < 6 ? "\(entry.timestamp.prefix(4))01" : String(entry.timestamp.prefix(6))
        months[month, default: 0] += 1
    }

    /// Returns the counts of all captures that were added.
    mutating func finish() -> IndexCounts {
        closeSite()
        keepLargestSites()
        counts.types = types.map { IndexCounts.TypeCount(type: $0.key, captures: $0.value) }
            .sorted { ($1.captures, $0.type.rawValue) < ($0.captures, $1.type.rawValue) }
        counts.months = months.sorted { $0.key < $1.key }.map { month, captures in
            IndexCounts.Month(month: "\(month.prefix(4))-\(month.suffix(2))", captures: captures)
        }
        return counts
    }

    private mutating func closeSite() {
        guard let site else { return }
        counts.sites.append(site)
        if counts.sites.count >= 4 * IndexCounts.sitesMax { keepLargestSites() }
    }

    private mutating func keepLargestSites() {
        let sorted = counts.sites.sorted { ($1.captures, $0.host) < ($0.captures, $1.host) }
        for site in sorted.dropFirst(IndexCounts.sitesMax) {
            counts.otherSites.sites += 1
            counts.otherSites.captures += site.captures
            counts.otherSites.urls += site.urls
        }
        counts.sites = Array(sorted.prefix(IndexCounts.sitesMax))
    }

    /// Returns the host of a SURT with its port, or the scheme of another key.
    static func host(of urlKey: String) -> String {
        guard let host = SURT.host(ofKey: urlKey) else { return "\(shortened(urlKey.prefix { $0 != ":" })):" }
        return shortened(host.name + host.port)
    }

    private static func shortened(_ host: some StringProtocol) -> String {
        String(decoding: host.utf8.prefix(hostBytesMax), as: UTF8.self)
    }

    /// Host names have at most 253 characters. RFC 1035 §2.3.4.
    private static let hostBytesMax = 260
}

extension Resolver {
    /// Returns what an archive's index lists, counted.
    ///
    /// The first call reads the whole index: a few seconds for a million captures. The counts are kept beside the
    /// archive's sidecar, unless the store is read-only. The job that indexes the archive's text makes them.
    ///
    /// - Parameter isWanted: See `closestCapture(_:in:isWanted:)`.
    /// - Throws: The error of opening the archive; `WebArchiveError` `cancelled`.
    package func counts(of archive: Archive, isWanted: @escaping () -> Bool = { true }) throws -> IndexCounts {
        if let counts = CountsDocument.counts(of: archive, in: layout) { return counts }
        let counts = try StoreError.refusingDamage { try countIndex(of: archive, CancellationCheck(isWanted)) }
        try CountsDocument.keep(counts, of: archive, in: store)
        return counts
    }

    /// Saves the sites of an archive in the catalog, if they were counted.
    func restoreSites(of archive: Archive) throws {
        guard let counts = CountsDocument.counts(of: archive, in: layout) else { return }
        try catalog.setSites(counts, key: archive.key)
    }

    /// Saves what lists show of an archive's content. What can't be read isn't tried again until the file is replaced:
    /// findings and the first request for counts report the reason.
    func noteContents(of archive: Archive, isWanted: @escaping () -> Bool) throws {
        guard try !store.isReadOnly && catalog.lacksContents(key: archive.key) else { return }
        let counts = try? counts(of: archive, isWanted: isWanted)
        guard isWanted(), archive.availability(in: layout) == .available else { return }
        if let counts {
            try catalog.setSites(counts, key: archive.key)
        } else {
            try catalog.endSites(key: archive.key)
        }
        let current = try catalog.archive(key: archive.key) ?? archive
        try store.filters.make(for: current, CancellationCheck(isWanted)) {
            try openArchives.wacz(of: current, allowances)
        }
        do {
            try store.thumbnails.note(of: current, CancellationCheck(isWanted))
        } catch let error as WebArchiveError where ![.io, .cancelled].contains(error.code) {
            try catalog.setThumbnail("", key: archive.key)
        }
    }

    /// Whether `counts(of:isWanted:)` has the counts of an archive already.
    package func hasCounts(of archive: Archive) -> Bool { CountsDocument.counts(of: archive, in: layout) != nil }

    private func countIndex(of archive: Archive, _ check: CancellationCheck) throws -> IndexCounts {
        var isRetry = false
        while true {
            let scan = scan(URLFilter(), try readable([archive]), from: nil, needsSURTs: true, check)
            var counter = IndexCounter()
            do {
                while case .capture(let entry, _) = try scan.next() { counter.add(entry) }
                return counter.finish()
            } catch {
                // The faulty index is read completely from now on.
                guard scan.foundFault, !isRetry else { throw error }
                isRetry = true
            }
        }
    }
}

/// `KEY.counts.json` in `files/`: the counts of an archive. It can be deleted at any time.
private struct CountsDocument: Codable {
    private let stamp: String
    private let counts: IndexCounts

    /// Returns the counts that were kept for an archive; `nil` if there are none, or if they're damaged or outdated.
    static func counts(of archive: Archive, in layout: StoreLayout) -> IndexCounts? {
        let path = layout.derived(.counts, key: archive.key)
        guard let document = try? StoreDocument.read(CountsDocument.self, at: path, bytesMax: bytesMax) else {
            return nil
        }
        return document.stamp == stamp(of: archive) ? document.counts : nil
    }

    /// Keeps the counts of an archive, unless it was removed meanwhile.
    static func keep(_ counts: IndexCounts, of archive: Archive, in store: ArchiveStore) throws {
        guard !store.isReadOnly else { return }
        let document = CountsDocument(stamp: stamp(of: archive), counts: counts)
        try store.committing {
            guard try store.catalog.archive(key: archive.key)?.showsUncovered == archive.showsUncovered else { return }
            try StoreDocument.write(
                document, to: store.layout.derived(.counts, key: archive.key), bytesMax: bytesMax)
            try store.catalog.setSites(counts, key: archive.key)
        }
    }

    /// Identifies the index that was counted and the way in which it was: the format and the file.
    private static func stamp(of archive: Archive) -> String {
        "2-\(archive.fileStamp)\(archive.showsUncovered ? "-all" : "")"
    }

    private static let bytesMax = 16 << 20
}
