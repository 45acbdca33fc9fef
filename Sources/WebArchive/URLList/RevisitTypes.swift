/// Finds out which media types revisits repeat, since their index entries don't say it. Add all entries in order.
struct RevisitTypes {
    /// The last capture that isn't a revisit.
    private var last: CDXJEntry?
    private var readsLeft = readsMax

    /// The maximum number of records to read. Further revisits have no type.
    private static let readsMax = 100_000

    /// Returns the entry; a revisit with the type of what it repeats.
    ///
    /// That is the capture before it if URL and digest are the same. Otherwise its record has the fields of the response,
    /// or names the other capture (WARC 1.1 §6.7).
    ///
    /// - Throws: `io`.
    mutating func withType(_ entry: CDXJEntry, in wacz: WACZFile?) throws(WebArchiveError) -> CDXJEntry {
        guard entry.isRevisit else {
            last = entry
            return entry
        }
        var entry = entry
        if let last, last.urlKey == entry.urlKey, let digest = entry.digest, last.digest == digest {
            entry.repeatedMime = last.mime
        } else if let wacz, readsLeft > 0 {
            readsLeft -= 1
            entry.repeatedMime = try Self.type(of: entry, in: wacz)
        }
        return entry
    }

    private static func type(of entry: CDXJEntry, in wacz: WACZFile) throws(WebArchiveError) -> String? {
        do throws(WebArchiveError) {
            let content = try RecordContent(wacz.record(of: entry))
            if let type = content.head?.fields["Content-Type"] { return type }
            guard let url = content.record.refersToTargetURI else { return nil }
            let time = content.record.refersToTime
            return try wacz.closestCapture(toURL: url, at: time) { !$0.isRevisit }?.mime
        } catch {
            if error.code == .io || error.code == .cancelled { throw error }
            return nil
        }
    }
}
