/// The captures that a list of URLs includes. All conditions must match.
package struct URLFilter: Sendable, Hashable {
    /// The way in which `text` matches a URL.
    package enum Match: String, Sendable, Hashable, CaseIterable {
        /// The URL contains the text.
        case contains
        /// The URL begins with the text, which includes at least a whole host; compares index keys.
        case prefix
        /// The URL is the text, in any spelling by which replay finds it.
        case exact
        /// The whole URL matches the text, in which `*` matches anything; without `*`, the same as `contains`.
        case pattern
    }

    /// The text to match; empty for all URLs.
    package var text = ""
    package var match = Match.contains
    /// The media classes to include; empty for all.
    package var types: Set<MediaClass> = []
    /// The statuses to include; empty for all.
    package var statuses: [ClosedRange<Int>] = []
    /// The request method to include, in upper case; `nil` for all.
    package var method: String?
    /// Only captures at this time or later.
    package var after: CaptureTimestamp?
    /// Only captures before this time.
    package var before: CaptureTimestamp?

    package init() {}

    /// Parses a time of 4 to 17 digits, with or without `-`; an incomplete one means the start of its period.
    package static func time(_ text: some StringProtocol) -> CaptureTimestamp? {
        CaptureTimestamp(digits: String(text.filter { $0 != "-" }))
    }

    /// Parses a status such as `404`, or `4xx` for all from 400 to 499; `nil` if it's neither.
    package static func statuses(_ text: some StringProtocol) -> ClosedRange<Int>? {
        guard text.utf8.count == 3, let first = text.utf8.first, (0x31...0x39).contains(first) else { return nil }
        if text.dropFirst().lowercased() == "xx" {
            let hundreds = Int(first - 0x30) * 100
            return hundreds...hundreds + 99
        }
        guard text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int(text).map { $0...$0 }
    }
}

/// Decides which index lines match a `URLFilter`.
struct URLMatcher {
    /// The index ranges that contain the matching lines.
    let ranges: [CDXJRange]
    /// Whether `ranges` are of SURT keys. Otherwise, any key can be in them, and lines can be read as they are.
    var needsSURTs: Bool { captures != nil }
    private let filter: URLFilter
    private let text: URLText?
    /// Matches keys, for `prefix` and `exact`, which find notes too.
    private let captures: CDXLineMatcher?

    init(_ filter: URLFilter) {
        self.filter = filter
        if !filter.text.isEmpty, filter.match == .prefix || filter.match == .exact {
            let matchType: CaptureQuery.MatchType = filter.match == .prefix ? .prefix : .exact
            let url = CaptureQuery.withScheme(filter.text)
            let matcher = CDXLineMatcher(CaptureQuery(url: url, matchType: matchType))
            (captures, ranges, text) = (matcher, matcher.ranges, nil)
        } else {
            captures = nil
            ranges = Self.allURLs
            text = filter.text.isEmpty ? nil : URLText(filter.text, isPattern: filter.match == .pattern)
        }
    }

    /// What crawlers write for themselves, which isn't a capture: wget's log and arguments, texts and lists of Browsertrix.
    private static let notes = ["metadata:", "urn:"]

    /// All lines except those with a key that begins like a note.
    private static let allURLs: [CDXJRange] = {
        let ranges = notes.map { CDXJRange(prefix: $0) }
        // UTF-8 has no byte 0xFF.
        return zip([[]] + ranges.map(\.end), ranges.map(\.start) + [[0xFF]]).map { CDXJRange(start: $0, end: $1) }
    }()

    /// Returns whether a line may match, without parsing its JSON.
    func mayMatch(_ line: CDXJLine) -> Bool {
        if filter.after != nil || filter.before != nil {
            guard let time = line.captureTime, isInSpan(time) else { return false }
        }
        return text?.mayOccur(in: line.bytes) ?? true
    }

    /// Returns whether a line in `ranges` that may match does so.
    func matches(_ entry: CDXJEntry, _ line: CDXJLine, limits: Limits) -> Bool {
        guard let time = entry.captureTime, isInSpan(time), hasMembers(entry) else { return false }
        if let captures { return captures.accepts(line, limits: limits) }
        return !Self.isNote(entry.url) && text?.matches(entry.url) ?? true
    }

    /// Returns whether an entry of an index that is read completely matches. `line` is its canonical line.
    func matches(scanned entry: CDXJEntry, line: CDXJLine, limits: Limits) -> Bool {
        guard ranges.contains(where: { $0.contains(line.bytes) }) || captures?.accepts(entry, line: line.bytes) == true
        else { return false }
        return matches(entry, line, limits: limits)
    }

    private func isInSpan(_ time: CaptureTimestamp) -> Bool {
        (filter.after.map { time >= $0 } ?? true) && (filter.before.map { time < $0 } ?? true)
    }

    private func hasMembers(_ entry: CDXJEntry) -> Bool {
        if let method = filter.method, (entry.method ?? "GET").uppercased() != method { return false }
        if !filter.statuses.isEmpty {
            guard let status = entry.status, filter.statuses.contains(where: { $0.contains(status) }) else {
                return false
            }
        }
        // That of a revisit isn't known yet.
        return entry.isRevisit || includesType(of: entry)
    }

    /// Returns whether the media class of a capture is one of those to include.
    func includesType(of entry: CDXJEntry) -> Bool { filter.types.isEmpty || filter.types.contains(entry.mediaClass) }

    private static func isNote(_ url: String) -> Bool {
        notes.contains { url.utf8.prefix($0.utf8.count).elementsEqual($0.utf8) { $0 | 0x20 == $1 | 0x20 } }
    }
}
