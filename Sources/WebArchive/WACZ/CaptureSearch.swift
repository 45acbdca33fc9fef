/// A search for the captures of one URL in one package.
struct CaptureSearch {
    let wacz: WACZFile
    let matcher: CaptureMatcher
    /// Whether captures of other request methods count.
    let includesMethods: Bool
    let assumesSorted: Bool
    let check: CancellationCheck

    /// Gathers captures into a copy of `start`.
    ///
    /// Where the indexes cannot be searched, or turn out on the way to be at fault, begins anew and reads them as a whole.
    ///
    /// - Parameter line: Gets each line in which the search expects a capture.
    /// - Parameter entry: Gets every entry of indexes that are read as a whole.
    /// - Throws: `io`, `cancelled`; `tooLarge` when an index is an attack.
    func gather<Found>(
        into start: Found, line: (inout Found, CDXJLine) -> Void, entry: (inout Found, CDXJEntry) -> Void
    ) throws(WebArchiveError) -> Found {
        try check.now()
        if let opened = try wacz.searchable(assumesSorted: assumesSorted) {
            do throws(WebArchiveError) {
                var found = start
                let ranges = matcher.ranges(includesMethods: includesMethods, includesPlainKeys: opened.hasPlainKeys)
                for index in opened.indexes {
                    let reader = CDXJRangeReader(index, ranges: ranges, limits: wacz.limits)
                    while let next = try reader.next() {
                        try check.step()
                        line(&found, next)
                    }
                }
                return found
            } catch let error where error.isIndexFault {
                wacz.captureIndex.giveUp(after: error)
            }
        }
        var found = start
        let reader = wacz.makeCaptureReader()
        while let (next, _) = try reader.next() {
            try check.step()
            entry(&found, next)
        }
        return found
    }
}
