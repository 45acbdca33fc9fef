package import WebArchive

extension ArchiveStore {
    /// A URL at a moment, to be looked up.
    package struct CaptureRequest: Sendable, Hashable {
        /// As captured; methods other than `GET` are named in it, see `IndexedRequest`.
        package var url: String
        /// The moment wanted; the latest capture when `nil`.
        package var time: CaptureTimestamp?

        package init(url: String, time: CaptureTimestamp?) {
            self.url = url
            self.time = time
        }
    }

    /// The index line of the capture that is closest in time, and the archive that has it; on a tie the later capture.
    ///
    /// - Returns: `nil` when none of the archives has the URL.
    package func closestCapture(
        _ request: CaptureRequest, in archives: [Archive]
    ) throws -> (archive: Archive, entry: CDXJEntry)? {
        var closest: (archive: Archive, entry: CDXJEntry, time: CaptureTimestamp)?
        for archive in archives {
            guard let entry = try openArchives.lookups(archive).closestCapture(request), let time = entry.captureTime
            else {
                continue
            }
            if let best = closest, !time.isBetter(than: best.time, for: request.time) { continue }
            closest = (archive, entry, time)
        }
        return closest.map { ($0.archive, $0.entry) }
    }

    /// Opens the capture that is closest in time and can answer.
    ///
    /// Passed over for the next closest one: a redirect from a URL to itself (as index keys tell `http` and `https` apart no more
    /// than they do), and a revisit whose payload is nowhere. When nothing else is there, the reason is thrown.
    ///
    /// - Returns: `nil` when neither the URL was captured nor, by the rules for URLs that differ in what does not matter, another
    ///   one that can stand in for it; `OpenCapture.entry` says which one it is.
    /// - Throws: `StoreError` `payloadMissing` or `redirectsToItself`; `WebArchiveError` for a damaged record.
    /// - Parameter allowsStandIn: Whether a capture of another URL may stand in.
    package func openCapture(
        _ request: CaptureRequest, in archive: Archive, allowsStandIn: Bool
    ) throws -> OpenCapture? {
        let index = try openArchives.lookups(archive)
        guard let first = try index.closestCapture(request) else {
            // The same file with another cache buster.
            guard allowsStandIn else { return nil }
            return try index.fuzzyCapture(request).map { try open($0, in: archive) }
        }
        return try openFirstThatAnswers(from: first, request, index)
    }

    /// Opens the very capture that an index line names.
    ///
    /// - Throws: `StoreError` `payloadMissing`; `WebArchiveError` for a damaged record.
    package func open(_ entry: CDXJEntry, in archive: Archive) throws -> OpenCapture {
        let wacz = try openArchives.wacz(of: archive)
        let own = try RecordContent(wacz.record(of: entry))
        guard own.record.isRevisit else {
            return OpenCapture(archive: archive, entry: entry, own: own, payload: own, payloadCapture: nil)
        }
        let (payload, place) = try revisitPayload(of: own.record, entry, in: archive)
        return OpenCapture(archive: archive, entry: entry, own: own, payload: payload, payloadCapture: place)
    }

    /// After a capture that cannot answer, those are left out that the index shows to be of its kind.
    private func openFirstThatAnswers(
        from first: CDXJEntry, _ request: CaptureRequest, _ index: IndexedArchive
    ) throws -> OpenCapture {
        var (passesRedirects, passesRevisits) = (false, false)
        var tried: Set<CDXJEntry> = []
        var candidate: CDXJEntry? = first
        var missing: (any Error)?
        while let entry = candidate, tried.count < Self.attemptsMax {
            do {
                let capture = try open(entry, in: index.archive)
                if !Self.isLoop(capture, for: request.url) { return capture }
                passesRedirects = true
            } catch let error as StoreError where error.code == .payloadMissing {
                missing = missing ?? error
                passesRevisits = true
            }
            tried.insert(entry)
            candidate = try index.closestCapture(request) { other in
                !tried.contains(other) && !(passesRevisits && other.isRevisit)
                    && !(passesRedirects && (300...399).contains(other.status ?? 0))
            }
        }
        throw missing
            ?? StoreError(
                .redirectsToItself, "the captures of this address only redirect to the address itself",
                place: request.url)
    }

    /// Whether following the capture would lead to a request for the same URL, and so to the same capture.
    private static func isLoop(_ capture: OpenCapture, for url: String) -> Bool {
        guard let target = capture.redirectTarget, SURT.matches(target, url) else { return false }
        // From `http` to `https`: the next request is another one.
        return capture.entry.url != url || target == url
    }

    private static let attemptsMax = 8
}

extension IndexedArchive {
    func closestCapture(
        _ request: ArchiveStore.CaptureRequest, where condition: (CDXJEntry) -> Bool = { _ in true }
    ) throws -> CDXJEntry? {
        try wacz.closestCapture(toURL: request.url, at: request.time, trustsOrder: trustsOrder, where: condition)
    }

    func fuzzyCapture(_ request: ArchiveStore.CaptureRequest) throws -> CDXJEntry? {
        try wacz.fuzzyCapture(ofURL: request.url, at: request.time, trustsOrder: trustsOrder)
    }
}
