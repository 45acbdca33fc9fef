/// A search for the captures of one URL in one archive.
struct CaptureSearch {
    let wacz: WACZFile
    let matcher: CaptureMatcher
    /// Whether to include captures of other request methods.
    let includesMethods: Bool
    let check: CancellationCheck
    /// Only captures in this span; `nil` for all. Their timestamps must have at least 14 digits.
    var span: ClosedRange<CaptureTimestamp>?

    /// Collects captures into a copy of `start`.
    ///
    /// If the indexes can't be searched, or turn out to be unsorted or damaged, starts again and reads them completely.
    ///
    /// - Parameter line: Receives each line in the searched ranges.
    /// - Parameter entry: Receives every entry of indexes that are read completely.
    /// - Throws: `io`, `cancelled`; `tooLarge` if an index exceeds its limits.
    func gather<Found>(
        into start: Found, line: (inout Found, CDXJLine) -> Void, entry: (inout Found, CDXJEntry) -> Void
    ) throws(WebArchiveError) -> Found {
        try check.now()
        return try wacz.searching { (opened) throws(WebArchiveError) in
            var found = start
            let ranges = matcher.ranges(
                includesMethods: includesMethods, includesPlainKeys: opened.hasPlainKeys, span: span)
            for index in opened.indexes {
                let reader = CDXJRangeReader(index, ranges: ranges, limits: wacz.limits, wacz.allowance)
                while let next = try reader.next() {
                    try check.step()
                    if isInSpan(next.captureTime) { line(&found, next) }
                }
            }
            return found
        } orReadingAll: { () throws(WebArchiveError) in
            var found = start
            let reader = wacz.makeCaptureReader()
            while let (next, _) = try reader.next() {
                try check.step()
                if isInSpan(next.captureTime) { entry(&found, next) }
            }
            return found
        }
    }

    private func isInSpan(_ time: @autoclosure () -> CaptureTimestamp?) -> Bool {
        guard let span else { return true }
        return time().map { span.contains($0) } ?? false
    }
}
