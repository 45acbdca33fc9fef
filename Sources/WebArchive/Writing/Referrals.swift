extension WACZFile {
    /// The limits for reading the records after a page.
    package struct ReferralLimits: Sendable {
        package var recordsMax = 10_000
        package var bytesMax: UInt64 = 256 << 20
        /// The number of milliseconds after the page within which records may belong to it.
        package var millisecondsMax: Int64 = 120_000

        package init() {}
    }

    /// Returns the URLs of the captures after a page's record that were loaded from it, in the order of the records.
    ///
    /// - Parameter isWanted: Whether a capture belongs to the page: gets the `Referer` of its request, and whether it was opened
    ///   as a document of its own.
    /// - Throws: `io`.
    package func urlsReferred(
        after page: CDXJEntry, limits: ReferralLimits, isWanted: (_ referrer: String, _ isDocument: Bool) -> Bool
    ) throws(WebArchiveError) -> [String] {
        guard let file = warcEntry(named: page.filename), page.offset < file.uncompressedSize else { return [] }
        var urls: [String] = []
        do throws(WebArchiveError) {
            let reader = try WARCReader(entry: file, of: directory, allowance)
            let indexer = RecordIndexer(
                filename: page.filename, keepsDocuments: false, limits: self.limits, allowance)
            let end = min(reader.size, page.offset.addingSaturated(limits.bytesMax))
            let scanner = try reader.makeScanner(page.offset..<end, receiver: indexer)
            var count = 0
            while count < limits.recordsMax, let item = try scanner.next() {
                count += 1
                for capture in indexer.end(item) {
                    guard let referrer = capture.referrer, isWanted(referrer, capture.destination == "document"),
                        let time = capture.entry.captureTime, let start = page.captureTime,
                        time.distance(to: start) <= limits.millisecondsMax
                    else { continue }
                    urls.append(capture.entry.url)
                }
            }
        } catch {
            if error.code == .io { throw error }
        }
        return urls
    }
}
