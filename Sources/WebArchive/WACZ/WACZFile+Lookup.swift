extension WACZFile {
    /// How lookups find captures: by search, or by reading every index, and why.
    ///
    /// Opens the indexes when that was not done yet, and checks their order as `captures(ofURL:assumesSorted:)` does.
    ///
    /// - Throws: `io` when the file cannot be read.
    public func indexAccess(assumesSorted: Bool = false) throws(WebArchiveError) -> IndexAccess {
        switch try captureIndex.open(self, assumesSorted: assumesSorted) {
        case .success: .search
        case .failure(let error): .sequential(error.reason)
        }
    }

    /// The same package, looked up in sorted indexes from elsewhere, such as those that `ZipNumWriter` wrote.
    ///
    /// Everything but lookups still reads the package's own indexes, and so do lookups once one of these turns out to
    /// be damaged. With no index at all, lookups find nothing.
    ///
    /// - Throws: `badIndex`, `badGzip`, `truncated` when one of them cannot be searched; `io`.
    public func using(indexes: [CDXJIndex]) throws(WebArchiveError) -> WACZFile {
        var file = self
        file.captureIndex = try CaptureIndex(indexes, limits: limits)
        return file
    }

    /// The package's `.idx`, when it has just one and the ZIP compresses that: a plain copy of it makes opening cheap.
    public var compressedIDX: ZIPEntry? {
        let entries = zipNumEntries
        guard entries.count == 1, let entry = entries.first, entry.method == .deflated else { return nil }
        return entry
    }

    /// The same package, with `plainIDX` in place of its `compressedIDX`, of which it is the content.
    ///
    /// - Throws: As `using(indexes:)` does, also when the package has no `compressedIDX` of that size.
    public func using(plainIDX: any ByteSource) throws(WebArchiveError) -> WACZFile {
        guard let entry = compressedIDX, entry.uncompressedSize == plainIDX.size else {
            throw WebArchiveError(
                code: .badIndex,
                problem: "the copy of the .idx has \(plainIDX.size) bytes, the package's own "
                    + (compressedIDX.map { "\($0.uncompressedSize)" } ?? "is not compressed"),
                file: plainIDX.name)
        }
        switch try IndexFinder(self, plainIDX: plainIDX).find() {
        case .success(let indexes): return try using(indexes: indexes)
        case .failure(let error):
            throw WebArchiveError(code: .badIndex, problem: error.reason.problem, file: plainIDX.name)
        }
    }

    /// Reads all that lookups search, as thoroughly as an inspection does, with flat memory.
    ///
    /// - Parameter progress: Called now and then; throws to stop.
    /// - Throws: What `progress` throws; `badIndex`, `badGzip`, `truncated` for what a search could meet; `io`.
    public func checkLookups(progress: () throws -> Void = {}) throws {
        switch try captureIndex.open(self, assumesSorted: true) {
        case .success(let opened): for index in opened.indexes { try index.check(progress) }
        case .failure(let error):
            throw WebArchiveError(code: .badIndex, problem: error.reason.problem, file: "\(name)/\(error.reason.file)")
        }
    }

    /// Every capture of `url`, in the order of the index: those with a key under which a writer may have put it.
    ///
    /// A search in place, O(log n), gives what reading the whole index would. Where an index cannot be searched, or
    /// shows on the way that it is not sorted or is damaged, the whole index is read; see `indexAccess(assumesSorted:)`.
    /// A search that does not meet the damage can find more than a scan, which ends there.
    /// Captures of other request methods are found by the URL alone and by the URL with `__wb_method=` and its body.
    ///
    /// - Parameter url: As it was captured, or in another spelling.
    /// - Parameter assumesSorted: Whether an inspection found the indexes to be searchable. Otherwise the first lookup
    ///   checks their order, in full up to `Limits.sortCheckBytesMax` and in samples above.
    /// - Returns: An empty list when the URL was not captured.
    /// - Throws: `io`; `tooLarge` when an index is an attack.
    public func captures(ofURL url: String, assumesSorted: Bool = false) throws(WebArchiveError) -> [CDXJEntry] {
        let matcher = CaptureMatcher(url: url)
        let search = CaptureSearch(
            wacz: self, matcher: matcher, includesMethods: true, assumesSorted: assumesSorted,
            check: CancellationCheck())
        let none: [(position: CDXJLine.Position, entry: CDXJEntry)] = []
        let found = try search.gather(into: none) { found, line in
            guard let entry = CDXJEntry.parsed(line.bytes, limits: limits), matcher.accepts(entry) else { return }
            found.append((line.position, entry))
        } entry: { found, entry in
            if matcher.accepts(entry) { found.append((.init(file: 0, offset: UInt64(found.count)), entry)) }
        }
        return found.sorted { $0.position < $1.position }.map(\.entry)
    }

    /// The capture of `url` that is closest in time, revisits included; of two equally close ones the later, of several
    /// at one moment the one whose URL is spelled so.
    ///
    /// Captures of other request methods count only when `url` names a method with `__wb_method=`.
    ///
    /// - Parameter url: As it was captured, or in another spelling.
    /// - Parameter time: The moment wanted; the latest capture when `nil`.
    /// - Parameter assumesSorted: As for `captures(ofURL:assumesSorted:)`.
    /// - Parameter condition: What the capture must be beside that; asked only of those closer than the best so far.
    /// - Returns: `nil` when the URL was not captured.
    /// - Throws: As `captures(ofURL:assumesSorted:)` does.
    public func closestCapture(
        toURL url: String, at time: CaptureTimestamp?, assumesSorted: Bool = false,
        where condition: (CDXJEntry) -> Bool = { _ in true }
    ) throws(WebArchiveError) -> CDXJEntry? {
        try closestCapture(
            matching: CaptureMatcher(url: url), at: time, assumesSorted: assumesSorted, CancellationCheck(),
            where: condition)
    }

    /// The same for a URL that several archives are asked for.
    ///
    /// - Throws: Also `cancelled`.
    package func closestCapture(
        matching matcher: CaptureMatcher, at time: CaptureTimestamp?, assumesSorted: Bool, _ check: CancellationCheck,
        where condition: (CDXJEntry) -> Bool
    ) throws(WebArchiveError) -> CDXJEntry? {
        let search = CaptureSearch(
            wacz: self, matcher: matcher, includesMethods: false, assumesSorted: assumesSorted, check: check)
        return try search.gather(into: ClosestCapture(matcher, to: time)) { closest, line in
            // The JSON of most lines need not be read, as their time already says that they are not it.
            guard let moment = line.captureTime, closest.mayTake(moment),
                let entry = CDXJEntry.parsed(line.bytes, limits: limits)
            else { return }
            closest.take(entry, where: condition)
        } entry: { closest, entry in
            guard let moment = entry.captureTime, closest.mayTake(moment) else { return }
            closest.take(entry, where: condition)
        }.entry
    }

    /// The entries whose keys fit, in the order of keys and times when the indexes can be searched.
    ///
    /// Nothing is read before the first entry is asked for, and memory stays flat.
    public func captures(matching query: CaptureQuery, assumesSorted: Bool = false) -> CaptureCursor {
        CaptureCursor(self, query, assumesSorted: assumesSorted)
    }

    /// The `.idx` files of the package.
    var zipNumEntries: [ZIPEntry] {
        directory.entries.filter { $0.name.hasPrefix("indexes/") && $0.name.hasSuffix(".idx") && !$0.isUnsafe }
    }

    func searchable(assumesSorted: Bool) throws(WebArchiveError) -> CaptureIndex.Opened? {
        switch try captureIndex.open(self, assumesSorted: assumesSorted) {
        case .success(let opened): opened
        case .failure: nil
        }
    }
}

extension CaptureMatcher {
    /// Whether an entry answers a request for the URL, not only one with another method.
    func isReplayable(_ entry: CDXJEntry) -> Bool {
        accepts(entry) && (namesMethod || (entry.method ?? "GET") == "GET" || entry.method == "HEAD")
            && (namesMethod || !CDXJLine.namesMethod(Array(entry.urlKey.utf8)[...]))
    }
}
