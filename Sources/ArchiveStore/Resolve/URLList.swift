import Foundation
package import WebArchive

/// A page of a list of captured URLs.
package struct URLList: Sendable, Encodable {
    package let urls: [Item]
    /// The cursor of the next page; `nil` at the end. A page with a cursor may have fewer URLs than requested, or none.
    package let next: String?

    /// A capture, or all captures of a URL.
    package struct Item: Sendable, Hashable, Encodable {
        /// The capture; of several captures, the latest.
        package let entry: CDXJEntry
        /// The archive that has the capture; only set in lists of several archives.
        package let archiveID: ArchiveID?
        /// The number of captures; `nil` if each capture is an item.
        package var captureCount: Int?

        package var mediaClass: MediaClass { entry.mediaClass }

        private enum CodingKeys: String, CodingKey {
            case url, timestamp, status, type, mime, method, length, archive, captures
        }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(entry.url, forKey: .url)
            try container.encode(entry.timestamp, forKey: .timestamp)
            try container.encodeIfPresent(entry.status, forKey: .status)
            try container.encode(mediaClass, forKey: .type)
            try container.encodeIfPresent(entry.mime, forKey: .mime)
            if entry.method != "GET" { try container.encodeIfPresent(entry.method, forKey: .method) }
            try container.encodeIfPresent(entry.length, forKey: .length)
            try container.encodeIfPresent(archiveID?.text, forKey: .archive)
            try container.encodeIfPresent(captureCount, forKey: .captures)
        }
    }

    /// How URLs are sorted.
    package enum Order: String, Sendable, Hashable, CaseIterable {
        /// By index key and time, as in the index.
        case url
        case newest
        case oldest
        /// By the size of the record.
        case largest

        /// Whether one item comes before another; with the same value, in the order of the index.
        fileprivate func precedes(_ one: Item, _ other: Item) -> Bool {
            let (first, second) = (one.entry, other.entry)
            switch self {
            case .newest where first.timestamp != second.timestamp: return first.timestamp > second.timestamp
            case .oldest where first.timestamp != second.timestamp: return first.timestamp < second.timestamp
            case .largest where first.length != second.length: return first.length ?? 0 > second.length ?? 0
            default: return (first.urlKey, first.timestamp) < (second.urlKey, second.timestamp)
            }
        }
    }

    /// A request for a page.
    package struct Request: Sendable, Hashable {
        package var filter: URLFilter
        /// Whether captures with the same index key are one item.
        package var collapsesURLs = false
        /// In another order than `url`, the list is one page with the first items, and is searched without a time limit.
        package var order = Order.url
        /// The maximum number of items.
        package var limit: Int
        /// The position of the page; `nil` for the first.
        package var start: URLScan.Position?
        /// How long to search. After that, the page has what was found by then.
        package var time = Duration.seconds(3)

        package init(filter: URLFilter, limit: Int) {
            (self.filter, self.limit) = (filter, limit)
        }

        /// Returns the request for the page at a position.
        package func from(_ position: URLScan.Position) -> Request {
            var request = self
            request.start = position
            return request
        }
    }
}

extension URLScan.Position {
    /// The position as text: the number of captures, a full stop and the key in base64url (RFC 4648 §5).
    package var cursor: String {
        let text = Data(key).base64EncodedString().filter { $0 != "=" }
        return "\(passed).\(String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }))"
    }

    /// Parses `cursor`; `nil` for any other text.
    package init?(cursor: some StringProtocol) {
        let parts = cursor.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let passed = Int32(parts[0]), passed >= 0 else { return nil }
        let text = String(parts[1].map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let key = Data(base64Encoded: text + padding), key.count <= Self.keyBytesMax else { return nil }
        self.init(key: Array(key), passed: Int(passed))
    }
}

extension Resolver {
    /// Lists captured URLs of an archive or a collection. Skips members whose file is unavailable.
    ///
    /// - Parameter isWanted: See `closestCapture(_:in:isWanted:)`.
    /// - Throws: If all files are unavailable, the error of the first.
    package func urls(
        _ request: URLList.Request, in replayable: Replayable, isWanted: @escaping () -> Bool = { true }
    ) throws -> URLList {
        try StoreError.refusingDamage {
            let indexes = try readable(replayable.archives)
            let check = CancellationCheck(isWanted)
            let deadline = ContinuousClock.now + request.time
            var faults = 0
            while true {
                let scan = scan(request.filter, indexes, from: request.start, check)
                if request.order == .url { scan.deadline = deadline }
                var page = URLPage(request, archives: replayable.members(indexes))
                do {
                    try page.fill(from: scan)
                    return page.list
                } catch {
                    // The faulty index is read completely from now on.
                    guard scan.foundFault, faults < indexes.count else { throw error }
                    faults += 1
                }
            }
        }
    }

    /// Calls `body` with each captured URL of an archive or a collection until it returns `false`.
    ///
    /// - Throws: What `body` throws; `archiveDamaged` if an index turns out to be damaged after the first URLs.
    package func forEachURL(
        _ filter: URLFilter, in replayable: Replayable, _ body: (URLList.Item) throws -> Bool
    ) throws {
        try StoreError.refusingDamage {
            let indexes = try readable(replayable.archives)
            let archives = replayable.members(indexes)
            let scan = scan(filter, indexes, from: nil, CancellationCheck())
            while case .capture(let entry, let source) = try scan.next() {
                guard try body(URLList.Item(entry: entry, archiveID: archives?[source])) else { return }
            }
        }
    }

    func scan(
        _ filter: URLFilter, _ indexes: [IndexedArchive], from start: URLScan.Position?, needsSURTs: Bool = false,
        _ check: CancellationCheck
    ) -> URLScan {
        let sources = indexes.map { CDXQuerySource(name: $0.archive.id.text, wacz: $0.wacz) }
        return URLScan(
            filter, sources: sources, from: start, needsSURTs: needsSURTs, temporaryFolder: layout.incoming, check)
    }
}

extension Replayable {
    /// The IDs of opened members; `nil` for an archive.
    fileprivate func members(_ indexes: [IndexedArchive]) -> [ArchiveID]? {
        guard case .collection = self else { return nil }
        return indexes.map(\.archive.id)
    }
}

/// Collects the items of a page.
private struct URLPage {
    private let request: URLList.Request
    /// The archives of the scan; `nil` if items don't name them.
    private let archives: [ArchiveID]?
    private var items: [URLList.Item] = []
    private var byteCount = 0
    private var next: URLScan.Position?

    init(_ request: URLList.Request, archives: [ArchiveID]?) {
        (self.request, self.archives) = (request, archives)
    }

    var list: URLList { URLList(urls: items, next: next?.cursor) }

    private var isFull: Bool { items.count >= request.limit || byteCount >= Self.bytesMax }

    mutating func fill(from scan: URLScan) throws(WebArchiveError) {
        if request.order != .url {
            try fillWithFirst(from: scan)
        } else if request.collapsesURLs {
            try fillWithURLs(from: scan)
        } else {
            try fillWithCaptures(from: scan)
        }
    }

    /// Reads all captures, and keeps the first in the order of the request.
    private mutating func fillWithFirst(from scan: URLScan) throws(WebArchiveError) {
        var first: [URLList.Item] = []
        var key: String?
        while case .capture(let entry, let source) = try scan.next() {
            if request.collapsesURLs, entry.urlKey == key, let last = items.popLast() {
                add(entry, source, captureCount: (last.captureCount ?? 0) + 1)
                continue
            }
            if items.count >= request.limit {
                first = sorted(first + items)
                items = []
            }
            add(entry, source, captureCount: request.collapsesURLs ? 1 : nil)
            key = entry.urlKey
        }
        items = sorted(first + items)
    }

    private func sorted(_ items: [URLList.Item]) -> [URLList.Item] {
        Array(items.sorted(by: request.order.precedes).prefix(request.limit))
    }

    private mutating func fillWithCaptures(from scan: URLScan) throws(WebArchiveError) {
        while !isFull {
            switch try scan.next() {
            case .capture(let entry, let source): add(entry, source)
            case .paused: return next = scan.position
            case .end: return
            }
        }
        next = scan.returned
        // Looks a little ahead, so that most lists don't end with an empty page.
        scan.deadline = .now
        if case .end = try scan.next() { next = nil }
    }

    private mutating func fillWithURLs(from scan: URLScan) throws(WebArchiveError) {
        var key: String?
        while true {
            let before = scan.returned
            // All that is left to know is whether the last URL has more captures.
            if isFull { scan.deadline = .now }
            switch try scan.next() {
            case .capture(let entry, let source):
                if entry.urlKey == key, let last = items.popLast() {
                    byteCount -= last.entry.url.utf8.count
                    add(entry, source, captureCount: (last.captureCount ?? 0) + 1)
                } else if isFull {
                    return next = before
                } else {
                    add(entry, source, captureCount: 1)
                    key = entry.urlKey
                }
            case .paused:
                let position = scan.position
                // The count of the last URL has to be complete.
                if let key, position.mayPrecedeCaptures(withKey: key) { continue }
                return next = position
            case .end: return
            }
        }
    }

    private mutating func add(_ entry: CDXJEntry, _ source: Int, captureCount: Int? = nil) {
        byteCount += entry.url.utf8.count
        items.append(URLList.Item(entry: entry, archiveID: archives?[source], captureCount: captureCount))
    }

    /// The size of the URLs that ends a page early.
    private static let bytesMax = 4 << 20
}

extension URLScan.Position {
    /// Returns whether captures with an index key can follow, if there was one before.
    fileprivate func mayPrecedeCaptures(withKey urlKey: String) -> Bool {
        key.starts(with: Array("\(urlKey) ".utf8).prefix(Self.keyBytesMax))
    }
}
