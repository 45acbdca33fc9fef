extension WACZFile {
    /// Returns how lookups find captures: by search, or by reading all indexes, and why.
    ///
    /// Opens the indexes if necessary, and checks their order like `captures(ofURL:)`.
    ///
    /// - Throws: `io` if the file can't be read.
    public func indexAccess() throws(WebArchiveError) -> IndexAccess {
        switch try captureIndex.open(self) {
        case .success: .search
        case .failure(let error): .sequential(error.reason)
        }
    }

    /// Returns a copy whose lookups don't check the order of the indexes, which an inspection found to be searchable.
    public func assumingSorted() -> WACZFile {
        var file = self
        file.captureIndex = CaptureIndex(captureIndex, isKnownSorted: true)
        return file
    }

    /// Whether lookups don't check the order of the indexes.
    package var isKnownSorted: Bool { captureIndex.isKnownSorted }

    /// Returns a copy whose lookups use external sorted indexes, such as those of `ZipNumWriter`.
    ///
    /// Only lookups use these indexes. If one of them turns out to be damaged, lookups read the archive's own indexes
    /// again. If `indexes` is empty, lookups find nothing.
    ///
    /// - Throws: `badIndex`, `badGzip`, `truncated` if one of them can't be searched; `io`.
    public func using(indexes: [CDXJIndex]) throws(WebArchiveError) -> WACZFile {
        var file = self
        file.captureIndex = try CaptureIndex(indexes, limits: limits)
        return file
    }

    /// The archive's `.idx` file, if it's the only one and compressed in the ZIP. An uncompressed copy makes opening
    /// faster.
    public var compressedIDX: ZIPEntry? {
        let entries = zipNumEntries
        guard entries.count == 1, let entry = entries.first, entry.method == .deflated else { return nil }
        return entry
    }

    /// Returns a copy that reads `plainIDX`, an uncompressed copy of `compressedIDX`.
    ///
    /// - Throws: The errors of `using(indexes:)`; `badIndex` if the archive has no `compressedIDX` of that size.
    public func using(plainIDX: any ByteSource) throws(WebArchiveError) -> WACZFile {
        guard let entry = compressedIDX, entry.uncompressedSize == plainIDX.size else {
            throw WebArchiveError(
                code: .badIndex,
                problem: "the copy of the .idx file has \(plainIDX.size) bytes, but the original "
                    + (compressedIDX.map { "has \($0.uncompressedSize)" } ?? "isn't compressed"),
                file: plainIDX.name)
        }
        switch try IndexFinder(self, plainIDX: plainIDX).find() {
        case .success(let indexes): return try using(indexes: indexes)
        case .failure(let error):
            throw WebArchiveError(code: .badIndex, problem: error.reason.problem, file: plainIDX.name)
        }
    }

    /// Checks everything that lookups search, as thoroughly as an inspection, in constant memory.
    ///
    /// - Parameter progress: Called regularly; throws to stop.
    /// - Throws: The errors of `progress`; `badIndex`, `badGzip`, `truncated` if a search could fail; `io`.
    public func checkLookups(progress: () throws -> Void = {}) throws {
        switch try captureIndex.open(self) {
        case .success(let opened): for index in opened.indexes { try index.check(progress) }
        case .failure(let error):
            throw WebArchiveError(code: .badIndex, problem: error.reason.problem, file: "\(name)/\(error.reason.file)")
        }
    }

    /// Returns all captures of `url` in the order of the index.
    ///
    /// The first lookup checks the order of the indexes: of all lines up to `Limits.sortCheckBytesMax`, and of a sample
    /// above; not after `assumingSorted()`.
    ///
    /// Matches all keys that indexers may have written for the URL. A search in O(log n) gives the same result as
    /// reading the whole index. An index that can't be searched, or turns out to be unsorted or damaged, is read
    /// completely; see `indexAccess()`. A search may find more captures in a damaged index than a scan,
    /// which ends at the damage. Captures of other request methods match the URL alone, and the URL with `__wb_method=`
    /// and its body.
    ///
    /// - Parameter url: The URL in the captured or an equivalent spelling.
    /// - Returns: The captures, or an empty list if the URL wasn't captured.
    /// - Throws: `io`; `tooLarge` if an index exceeds its limits.
    public func captures(ofURL url: String) throws(WebArchiveError) -> [CDXJEntry] {
        let matcher = CaptureMatcher(url: url)
        let search = CaptureSearch(wacz: self, matcher: matcher, includesMethods: true, check: CancellationCheck())
        let none: [(position: CDXJLine.Position, entry: CDXJEntry)] = []
        let found = try search.gather(into: none) { found, line in
            guard let entry = CDXJEntry.parsed(line.bytes, limits: limits), matcher.accepts(entry) else { return }
            found.append((line.position, entry))
        } entry: { found, entry in
            if matcher.accepts(entry) { found.append((.init(file: 0, offset: UInt64(found.count)), entry)) }
        }
        return found.sorted { $0.position < $1.position }.map(\.entry)
    }

    /// Returns the capture of `url` that is closest in time, including revisits.
    ///
    /// Of two equally close captures, it returns the later one, and of several at the same time, the one whose URL has
    /// the same spelling. Records that aren't captures don't count. Captures of other request methods count only if `url` contains a method in `__wb_method=`.
    ///
    /// - Parameter url: The URL in the captured or an equivalent spelling.
    /// - Parameter time: The wanted time; if `nil`, returns the latest capture.
    /// - Parameter condition: An additional condition, which is checked only for captures better than the best so far.
    /// - Returns: The capture, or `nil` if the URL wasn't captured.
    /// - Throws: The errors of `captures(ofURL:)`.
    public func closestCapture(
        toURL url: String, at time: CaptureTimestamp?,
        where condition: (CDXJEntry) -> Bool = { _ in true }
    ) throws(WebArchiveError) -> CDXJEntry? {
        try closestCapture(matching: CaptureMatcher(url: url), at: time, CancellationCheck(), where: condition)
    }

    /// Returns the closest capture for a matcher that can be used with several archives.
    ///
    /// - Throws: The errors of `captures(ofURL:)`; `cancelled`.
    package func closestCapture(
        matching matcher: CaptureMatcher, at time: CaptureTimestamp?, _ check: CancellationCheck,
        where condition: (CDXJEntry) -> Bool
    ) throws(WebArchiveError) -> CDXJEntry? {
        let search = CaptureSearch(wacz: self, matcher: matcher, includesMethods: false, check: check)
        func isWanted(_ entry: CDXJEntry) -> Bool { condition(entry) && isCapture(entry) }
        if let found = try closestByTimes(search, at: time, where: isWanted) { return found }
        return try closest(search, at: time, where: isWanted)
    }

    /// Returns the capture of exactly a time and spelling, and reads only the index lines of that second.
    ///
    /// - Returns: `nil` if there is none, and also if the index can't be searched. Then `closestCapture` decides.
    func captureExactly(
        matching matcher: CaptureMatcher, at time: CaptureTimestamp, _ check: CancellationCheck,
        where condition: (CDXJEntry) -> Bool
    ) throws(WebArchiveError) -> CDXJEntry? {
        guard try searchable() != nil else { return nil }
        var search = CaptureSearch(wacz: self, matcher: matcher, includesMethods: false, check: check)
        search.span = time...time
        let found = try closest(search, at: time) { condition($0) && isCapture($0) }
        guard let found, found.captureTime == time, matcher.spelling(of: found.url.utf8) == .asRequested else {
            return nil
        }
        return found
    }

    /// Returns whether an entry names a capture: a record of the type `response`, `resource` or `revisit`. Some indexers
    /// also list a crawler's notes (`metadata`) and converted forms (`conversion`). WARC 1.1 §6.
    ///
    /// An entry with a status, and one of a revisit, do. For another one, the header of its record is read. If that can't
    /// be read, it counts as a capture, so that the problem isn't hidden.
    package func isCapture(_ entry: CDXJEntry) -> Bool {
        RecordTypeReader(self).isCapture(entry)
    }

    func closest(
        _ search: CaptureSearch, at time: CaptureTimestamp?, where condition: (CDXJEntry) -> Bool
    ) throws(WebArchiveError) -> CDXJEntry? {
        try search.gather(into: ClosestCapture(search.matcher, to: time)) { closest, line in
            // The time is enough to skip most lines without parsing their JSON.
            guard let moment = line.captureTime, closest.mayBeBetter(moment),
                let entry = CDXJEntry.parsed(line.bytes, limits: limits)
            else { return }
            closest.take(entry, where: condition)
        } entry: { closest, entry in
            guard let moment = entry.captureTime, closest.mayBeBetter(moment) else { return }
            closest.take(entry, where: condition)
        }.entry
    }

    /// Returns a cursor over the entries that match a query, sorted by key and time if the indexes can be searched.
    ///
    /// Reads nothing before the first call of `next()`, and uses constant memory.
    public func captures(matching query: CaptureQuery) -> CaptureCursor {
        CaptureCursor(self, query)
    }

    /// Returns the first `limit` entries that match a query.
    ///
    /// - Throws: `io`, `cancelled`; `tooLarge` if an index exceeds its limits.
    package func firstCaptures(
        matching query: CaptureQuery, limit: Int, _ check: CancellationCheck
    ) throws(WebArchiveError) -> [CDXJEntry] {
        try check.now()
        return try reading(query.ranges, check) { (cursor) throws(WebArchiveError) in
            var entries: [CDXJEntry] = []
            while entries.count < limit, let entry = try cursor.next() { entries.append(entry) }
            return entries
        }
    }

    /// Reads a cursor. If its search fails, reads a second one, which reads all indexes.
    func reading<Value>(
        _ ranges: [CDXJRange], _ check: CancellationCheck, _ read: (CaptureCursor) throws(WebArchiveError) -> Value
    ) throws(WebArchiveError) -> Value {
        let cursor = CaptureCursor(self, ranges: ranges, check)
        do throws(WebArchiveError) {
            return try read(cursor)
        } catch let error where error.isIndexFault && cursor.isSorted {
            return try read(CaptureCursor(self, ranges: ranges, check))
        }
    }

    /// The `.idx` files of the archive.
    var zipNumEntries: [ZIPEntry] {
        directory.entries.filter { entry in
            entry.name.hasPrefix("\(folder)indexes/") && entry.name.hasSuffix(".idx") && !entry.isUnsafe
                && !isSetAside(entry)
        }
    }

    /// Returns the indexes, if they can be searched.
    ///
    /// - Parameter needsSURTs: Whether all keys must be SURTs. Plain URLs sort differently.
    func searchable(needsSURTs: Bool = false) throws(WebArchiveError) -> CaptureIndex.Opened? {
        guard case .success(let opened) = try captureIndex.open(self) else { return nil }
        return needsSURTs && opened.hasPlainKeys ? nil : opened
    }

    /// Searches the indexes. If they can't be searched, or turn out to be unsorted or damaged, reads them completely.
    func searching<Value>(
        needsSURTs: Bool = false, _ search: (CaptureIndex.Opened) throws(WebArchiveError) -> Value,
        orReadingAll scan: () throws(WebArchiveError) -> Value
    ) throws(WebArchiveError) -> Value {
        if let opened = try searchable(needsSURTs: needsSURTs) {
            do throws(WebArchiveError) {
                return try captureIndex.searching { () throws(WebArchiveError) in try search(opened) }
            } catch let error where error.isIndexFault {
                // Noted by then.
            }
        }
        return try scan()
    }
}

extension CaptureMatcher {
    /// Returns whether an entry matches a request for the URL, including its method.
    func isReplayable(_ entry: CDXJEntry) -> Bool {
        accepts(entry) && (namesMethod || (entry.method ?? "GET") == "GET" || entry.method == "HEAD")
            && (namesMethod || !CDXJLine.namesMethod(Array(entry.urlKey.utf8)[...]))
    }
}
