/// A file whose captures can be looked up.
package protocol CaptureFile {
    var wacz: WACZFile { get }
    /// Returns whether the payload of a record in the file has a digest; see `RecordContent.hasPayload`.
    func hasPayload(_ content: RecordContent, _ digest: WARCDigest, _ check: CancellationCheck) throws -> Bool
}

extension WACZFile: CaptureFile {
    package var wacz: WACZFile { self }

    package func hasPayload(
        _ content: RecordContent, _ digest: WARCDigest, _ check: CancellationCheck
    ) throws -> Bool { try content.hasPayload(digest, check) }
}

/// Finds the payload of captures that have none of their own: in their file, else in the other files of the collection,
/// else in the files that theirs requires.
///
/// Replay and verification use it alike. For use on one thread.
package struct RevisitResolver<Source: CaptureFile> {
    /// The record with a payload, and the capture that it belongs to.
    package struct Payload {
        package let content: RecordContent
        package let source: Source
        package let entry: CDXJEntry
    }

    /// The other files of the collection that may have captures of some URLs.
    private let others: (_ source: Source, _ urls: [CaptureMatcher]) throws -> [Source]
    /// The files that one requires, known by their SHA-256.
    private let required: (_ source: Source) throws -> [Source]
    private let check: CancellationCheck
    /// The state before the last capture that only said that nothing had changed. Those of one URL follow each other.
    private var lastState: (entry: CDXJEntry, state: Payload?)?
    /// The last payloads that were found by their digest alone, by file, URL and digest. A page can repeat one thousands of times.
    private var lastRepeated: [[String]: Payload] = [:]
    private static var repeatedMax: Int { 64 }

    /// - Parameters:
    ///   - others: Returns the other files of the collection that may have captures of some URLs, the best copies first.
    ///   - required: Returns the files that one requires, known by their SHA-256.
    package init(
        _ check: CancellationCheck,
        others: @escaping (_ source: Source, _ urls: [CaptureMatcher]) throws -> [Source] = { _, _ in [] },
        required: @escaping (_ source: Source) throws -> [Source] = { _ in [] }
    ) {
        (self.check, self.others, self.required) = (check, others, required)
    }

    /// Returns the payload of a capture that has none of its own.
    ///
    /// A revisit with the profile `identical-payload-digest` (WARC 1.1 §6.7.2) repeats the capture in
    /// `WARC-Refers-To-Target-URI` and `-Date` (§5.13, §5.14); without them, one of the same URL with the same digest. The
    /// payload in another file is hashed and compared with the digest that the capture states, whatever that file states. In
    /// a required file a digest is mandatory, so that an archive can't read content from another one that it doesn't
    /// already know. For `server-not-modified` (§6.7.3) and a captured 304, see `stateBefore`.
    ///
    /// - Parameters:
    ///   - own: The content of the capture's own record.
    ///   - entry: The capture.
    /// - Returns: `nil` if it's in none of the files.
    package mutating func payload(
        of own: RecordContent, _ entry: CDXJEntry, in source: Source
    ) throws -> Payload? {
        if own.isNotModified {
            let found = try stateBefore(own.record, entry, in: source)
            if own.record.refersToDate == nil { lastState = (entry, found) }
            return found
        }
        return try identicalPayload(of: own, entry, in: source)
    }

    // Unchanged ---------------------------------------------------------------------------------------------------

    /// Finds what a client had when the server answered that nothing had changed: the newest success of the URL
    /// before, never a later one. RFC 9110 §15.4.5: without the condition, the answer would have been 200.
    ///
    /// The digest says nothing, since it can be that of the empty body. Captures that also say that nothing has changed are
    /// passed, however many there are: the allowance is charged with each record that is opened for this.
    private mutating func stateBefore(_ record: WARCRecord, _ entry: CDXJEntry, in source: Source) throws -> Payload? {
        guard let time = entry.captureTime,
            var end = CaptureTimestamp(millisecondsSince1970: time.millisecondsSince1970 + 1)
        else { return nil }
        let matchers = [entry.url, record.refersToTargetURI].compactMap { $0 }.map { CaptureMatcher(url: $0) }
        let sources = try [source] + others(source, matchers)
        if let found = try referredState(record, upTo: time, among: sources) { return found }
        if let lastState, try newest(before: entry, at: time, matchers[0], among: sources) == lastState.entry {
            return lastState.state
        }
        while true {
            var window = CaptureWindow(.before(end), limit: Self.statesAtOnce)
            for (number, source) in sources.enumerated() {
                try source.wacz.addCaptures(matching: matchers[0], of: number, to: &window, check)
            }
            let items = window.items().items
            if let found = try newestSuccess(items, matchers[0], at: time, among: sources) {
                guard found.content.record.isRevisit else { return found }
                return try identicalPayload(of: found.content, found.entry, in: found.source)
            }
            guard items.count >= Self.statesAtOnce, let first = items.first else { return nil }
            end = first.time
            for source in sources { try source.wacz.chargeAnotherPass(matching: matchers[0]) }
        }
    }

    /// Returns the newest of some captures that is a success, which may repeat another one.
    private func newestSuccess(
        _ items: [CaptureWindow.Item], _ matcher: CaptureMatcher, at time: CaptureTimestamp, among sources: [Source]
    ) throws -> Payload? {
        // None is later, so the best rank is the newest, and of one time, that with the spelling of the URL.
        let ranked = items.reversed().compactMap { item in
            matcher.rank(of: item.entry, for: time).map { ((source: sources[item.archive], entry: item.entry), $0) }
        }
        for (found, _) in ranked.sorted(by: { $0.1 < $1.1 }) where (found.entry.method ?? "GET") == "GET" {
            try check.now()
            guard found.entry.mayBeSuccess, found.source.wacz.isCapture(found.entry) else { continue }
            let content = try found.source.wacz.content(of: found.entry, check)
            if content.hasSuccess { return Payload(content: content, source: found.source, entry: found.entry) }
        }
        return nil
    }

    /// Returns the capture before one that is a state, or says that nothing has changed.
    private func newest(
        before entry: CDXJEntry, at time: CaptureTimestamp, _ matcher: CaptureMatcher, among sources: [Source]
    ) throws -> CDXJEntry? {
        let ranked = try sources.compactMap { source in
            try source.wacz.closestCapture(matching: matcher, at: time, check) { other in
                other != entry && (other.mayBeSuccess || other.status == 304) && (other.method ?? "GET") == "GET"
                    && other.captureTime.map { $0 <= time } ?? false
            }.flatMap { found in matcher.rank(of: found, for: time).map { (found, $0) } }
        }
        return ranked.min { $0.1 < $1.1 }?.0
    }

    /// Returns the capture that a record names as the one that hasn't changed, if it's there and not a later one.
    private func referredState(
        _ record: WARCRecord, upTo latest: CaptureTimestamp, among sources: [Source]
    ) throws -> Payload? {
        guard let url = record.refersToTargetURI, let time = record.refersToTime, time <= latest else { return nil }
        let matcher = CaptureMatcher(url: url)
        let ranked = try sources.compactMap { source in
            try source.wacz.closestCapture(matching: matcher, at: time, check) { other in
                other.captureTime?.digits14 == time.digits14 && !other.isRevisit && other.mayBeSuccess
            }.flatMap { entry in matcher.rank(of: entry, for: time).map { (source, entry, $0) } }
        }
        guard let (source, entry, _) = ranked.min(by: { $0.2 < $1.2 }) else { return nil }
        let content = try source.wacz.content(of: entry, check)
        return content.isState ? Payload(content: content, source: source, entry: entry) : nil
    }

    /// The number of captures that are kept at once: daily ones of three years.
    private static var statesAtOnce: Int { 1100 }

    // Identical ---------------------------------------------------------------------------------------------------

    /// Finds the payload of a revisit with the profile `identical-payload-digest`, or without one.
    private mutating func identicalPayload(
        of own: RecordContent, _ entry: CDXJEntry, in source: Source
    ) throws -> Payload? {
        let digest = own.record.payloadDigest ?? entry.digest
        let key = own.record.refersToDate == nil ? digest.map { [source.wacz.name, entry.url, $0] } : nil
        if let key, let found = lastRepeated[key] { return found }
        let urls = Self.urls(own.record, entry)
        if let found = try payload(of: own.record, entry, urls, in: source, .own) {
            if let key {
                if lastRepeated.count >= Self.repeatedMax { lastRepeated = [:] }
                lastRepeated[key] = found
            }
            return found
        }
        for other in try others(source, urls.map(\.matcher)) {
            if let found = try payload(of: own.record, entry, urls, in: other, .member) { return found }
        }
        for other in try required(source) {
            if let found = try payload(of: own.record, entry, urls, in: other, .required) { return found }
        }
        return nil
    }

    /// What the file with a payload is to that of the capture.
    private enum Relation { case own, member, required }

    /// A URL under which a payload may be, and when.
    private struct Place {
        let url: String
        let time: CaptureTimestamp?
        let matcher: CaptureMatcher
    }

    /// Returns the URLs under which the payload may be, without duplicates. The first one is that of the capture that the
    /// record names, if it does.
    private static func urls(_ record: WARCRecord, _ entry: CDXJEntry) -> [Place] {
        let time = record.refersToTime ?? entry.captureTime
        let urls = [record.refersToTargetURI, record.targetURI, entry.url].compactMap { $0 }
            .filter { $0.utf8.count <= Limits.standard.urlBytesMax }
        return urls.enumerated().filter { urls.firstIndex(of: $0.element) == $0.offset }
            .map { Place(url: $0.element, time: time, matcher: CaptureMatcher(url: $0.element)) }
    }

    private func payload(
        of record: WARCRecord, _ entry: CDXJEntry, _ urls: [Place], in source: Source, _ relation: Relation
    ) throws -> Payload? {
        let digest = record.payloadDigest ?? entry.digest
        for place in urls {
            var tried: [CDXJEntry] = []
            func isCandidate(_ other: CDXJEntry) -> Bool {
                // ArchiveWeb.page writes revisits of a `GET` for a `POST` with the same payload.
                !other.isRevisit && WARCDigest.mayBeEqual(other.digest, digest) && !tried.contains(other)
                    && ((other.method ?? "GET") == (entry.method ?? "GET") || WARCDigest.areEqual(other.digest, digest))
            }
            while tried.count < Self.candidatesMax {
                // Of a URL with many revisits, this reads one line for each of them instead of all.
                let named = tried.isEmpty && record.refersToTime != nil ? place.time : nil
                let exact = try named.flatMap {
                    try source.wacz.captureExactly(matching: place.matcher, at: $0, check, where: isCandidate)
                }
                guard
                    let best = try exact
                        ?? source.wacz.closestCapture(
                            matching: place.matcher, at: place.time, check, where: isCandidate)
                else { break }
                tried.append(best)
                let content = try source.wacz.content(of: best, check)
                // An index may not mark a revisit as one.
                guard !content.record.isRevisit else { continue }
                let isRight =
                    switch (relation, digest.flatMap { WARCDigest($0) }) {
                    case (.own, _):
                        try [content.record.payloadDigest, best.digest].contains { WARCDigest.areEqual($0, digest) }
                            || Self.names(best, place, record)
                            || hasUnstated(digest, content, stated: [content.record.payloadDigest, best.digest])
                    case (_, let digest?): try source.hasPayload(content, digest, check)
                    case (.member, nil): Self.names(best, place, record)
                    case (.required, nil): false
                    }
                if isRight { return Payload(content: content, source: source, entry: best) }
            }
        }
        return nil
    }

    /// Whether a body matches a digest whose algorithm nothing else states. Converted ARC records have a SHA-256, and
    /// revisits of Heritrix a SHA-1.
    private func hasUnstated(_ digest: String?, _ content: RecordContent, stated: [String?]) throws -> Bool {
        guard let digest = digest.flatMap({ WARCDigest($0) }),
            !stated.contains(where: { $0.flatMap { WARCDigest($0) }?.algorithm == digest.algorithm }),
            content.storedBodyLength <= Self.hashedBytesMax
        else { return false }
        return try content.hasPayload(digest, check)
    }

    /// The maximum size of a body that is hashed to compare it.
    private static var hashedBytesMax: UInt64 { 64 << 20 }

    /// The number of captures of one URL to compare with a digest.
    private static var candidatesMax: Int { 16 }

    /// Returns whether a revisit names a capture, found for its URL: by that URL, its time, or both.
    private static func names(_ found: CDXJEntry, _ place: Place, _ record: WARCRecord) -> Bool {
        guard record.refersToDate != nil else { return record.refersToTargetURI == place.url }
        guard (record.refersToTargetURI ?? place.url) == place.url else { return false }
        return found.captureTime?.digits14 == record.refersToTime?.digits14
    }
}

extension WARCDigest {
    /// Whether two digests, as written, are of the same bytes.
    package static func areEqual(_ one: String?, _ other: String?) -> Bool {
        guard let one = one.flatMap({ WARCDigest($0) }), let other = other.flatMap({ WARCDigest($0) }) else {
            return false
        }
        return one == other
    }

    /// Whether two digests can belong to the same bytes; `true` for unknown digests and different algorithms.
    fileprivate static func mayBeEqual(_ one: String?, _ other: String?) -> Bool {
        guard let one = one.flatMap({ WARCDigest($0) }), let other = other.flatMap({ WARCDigest($0) }),
            one.algorithm == other.algorithm
        else { return true }
        return one == other
    }
}
