/// Finds the captures of a site whose keys are next to that of a URL, whether or not the URL itself was captured.
struct CaptureNeighbors {
    private let key: String
    private let target: [UInt8]
    /// The lines of the same host and port.
    private let site: CDXJRange
    private let limit: Int
    private let wacz: WACZFile
    private let check: CancellationCheck
    private let isWanted: (CDXJEntry) -> Bool

    /// The maximum number of keys to read on each side.
    private static let keysMax = 64

    /// - Parameter key: The key of an `http` or `https` URL; returns `nil` for another one.
    init?(
        key: String, limit: Int, in wacz: WACZFile, _ check: CancellationCheck,
        where isWanted: @escaping (CDXJEntry) -> Bool
    ) {
        guard SURT.isSURT(key), let bracket = key.firstIndex(of: ")") else { return nil }
        self.key = key
        target = Array("\(key) ".utf8)
        site = CDXJRange(prefix: String(key[...bracket]))
        (self.limit, self.wacz, self.check, self.isWanted) = (limit, wacz, check, isWanted)
    }

    /// Returns captures with different keys, at most `limit` on each side, the nearest first.
    func search(_ indexes: [CDXJIndex]) throws(WebArchiveError) -> [CDXJEntry] {
        var found: [CDXJEntry] = []
        for index in indexes {
            found += try captures(endOfKey: 0x20) { (target) throws(WebArchiveError) in
                try index.line(before: target)
            }
            found += try captures(endOfKey: 0x21) { (target) throws(WebArchiveError) in
                try index.cursor(from: target, nil).peek()
            }
        }
        return found
    }

    /// Goes from one key to the next in one direction.
    ///
    /// - Parameters:
    ///   - end: What follows a key in the next target: the space before all its lines, or what sorts after all of them.
    ///   - next: Returns the line next to a target.
    private func captures(
        endOfKey end: UInt8, _ next: ([UInt8]) throws(WebArchiveError) -> CDXJLine?
    ) throws(WebArchiveError) -> [CDXJEntry] {
        var found: [CDXJEntry] = []
        var target = target
        for _ in 0..<Self.keysMax where found.count < limit {
            try check.step()
            guard let line = try next(target), site.contains(line.bytes) else { break }
            target = Array(line.urlKey) + [end]
            if let entry = entry(of: line) { found.append(entry) }
        }
        return found
    }

    private func entry(of line: CDXJLine) -> CDXJEntry? {
        guard line.urlKey != target.dropLast(), !line.namesMethod else { return nil }
        guard let entry = CDXJEntry.parsed(line.bytes, limits: wacz.limits), isWanted(entry) else { return nil }
        return entry
    }

    /// Does the same as `search` by reading all entries, in constant memory.
    func scan() throws(WebArchiveError) -> [CDXJEntry] {
        let cursor = CaptureCursor(wacz, ranges: [site], check)
        var (before, after): ([String: CDXJEntry], [String: CDXJEntry]) = ([:], [:])
        while let entry = try cursor.next() {
            let own = SURT.isSURT(entry.urlKey) ? entry.urlKey : SURT.key(for: entry.url)
            guard own != key, !CDXJLine.namesMethod(Array(own.utf8)[...]), isWanted(entry) else { continue }
            if Self.precedes(own, key) {
                Self.add(entry, own, to: &before, limit) { Self.precedes($0, $1) }
            } else {
                Self.add(entry, own, to: &after, limit) { Self.precedes($1, $0) }
            }
        }
        return before.sorted { Self.precedes($1.key, $0.key) }.map(\.value)
            + after.sorted { Self.precedes($0.key, $1.key) }.map(\.value)
    }

    /// Adds an entry, and removes the one that is furthest away if there are too many.
    private static func add(
        _ entry: CDXJEntry, _ key: String, to entries: inout [String: CDXJEntry], _ limit: Int,
        isFurther: (String, String) -> Bool
    ) {
        guard entries[key] == nil else { return }
        entries[key] = entry
        guard entries.count > limit else { return }
        if let furthest = entries.keys.min(by: isFurther) { entries[furthest] = nil }
    }

    private static func precedes(_ one: String, _ other: String) -> Bool {
        one.utf8.lexicographicallyPrecedes(other.utf8)
    }
}

extension WACZFile {
    /// Returns captures of the same site as a URL, next to it in the order of the index.
    ///
    /// Reads at most 64 keys on each side. Captures with the URL's own key, and those of other request methods than
    /// `GET`, don't count.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of captures on each side of each index file.
    ///   - isWanted: Whether a capture counts.
    /// - Returns: One capture for each key; empty for URLs other than `http` and `https`.
    /// - Throws: `io`, `cancelled`; `tooLarge` if an index exceeds its limits.
    package func captures(
        nextTo url: String, limit: Int, _ check: CancellationCheck,
        where isWanted: @escaping (CDXJEntry) -> Bool = { _ in true }
    ) throws(WebArchiveError) -> [CDXJEntry] {
        let key = SURT.key(for: url)
        let host = key.prefix { $0 != ")" && $0 != ":" }
        // Some indexers keep `www.` in keys.
        for key in [key, "\(host),www\(key[host.endIndex...])"] {
            guard let neighbors = CaptureNeighbors(key: key, limit: limit, in: self, check, where: isWanted) else {
                return []
            }
            let found = try searching(needsSURTs: true) { (opened) throws(WebArchiveError) in
                try neighbors.search(opened.indexes)
            } orReadingAll: { () throws(WebArchiveError) in
                try neighbors.scan()
            }
            if !found.isEmpty { return found }
        }
        return []
    }
}
