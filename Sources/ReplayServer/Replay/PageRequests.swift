import ArchiveStore
import Synchronization
import WebArchive

/// What archived pages requested, and which captures answered. The workers of replay origins report it.
///
/// An archived script can add requests, as it can make them, but it can remove none. So a page can't hide a part.
final class PageRequests: Sendable {
    /// A URL and a time, as in a replay URL.
    struct Address: Sendable, Hashable, Codable {
        let url: String
        /// 0 to 17 digits.
        let timestamp: String

        /// Whether it's a capture of this time, to the second.
        func isCapture(_ other: Address) -> Bool {
            url == other.url && timestamp.prefix(14) == other.timestamp.prefix(14)
        }

        fileprivate var bytes: Int { url.utf8.count + 64 }
    }

    /// One request. Its JSON comes from `www/replay/requests.js`.
    struct Report: Sendable, Decodable {
        let asked: Address
        /// The capture that answered; absent if there was none.
        let answer: Address?
        /// The document that made the request.
        let page: Address?
        /// The document in whose frame this one was opened.
        let replaced: Address?
        /// Whether it's for a document.
        let isDocument: Bool

        /// Whether all of it can be part of a replay URL.
        var isValid: Bool {
            [asked, answer, page, replaced].compactMap(\.self).allSatisfy {
                $0.url.utf8.count <= Limits.standard.urlBytesMax && $0.timestamp.utf8.count <= 17
                    && $0.timestamp.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
        }
    }

    fileprivate struct Request: Hashable {
        let asked: Address
        let answer: Address?
    }

    /// A document, as it was requested.
    fileprivate struct Page {
        /// The captures that were shown for it.
        var captures: Set<Address> = []
        /// In the order in which they were made.
        var requests: [Request] = []
        var known: Set<Request> = []
        var isComplete = true
        var bytes = 0
        var usedAt = 0
    }

    fileprivate struct State {
        /// By the name of the replay collection.
        var pages: [String: [Address: Page]] = [:]
        var bytes = 0
        var uses = 0
        /// Hashes of pages whose requests were dropped.
        var dropped: Set<Int> = []
    }

    private let state = Mutex(State())

    func add(_ reports: [Report], in collection: String) {
        state.withLock { state in
            for report in reports where report.isValid {
                let request = Request(asked: report.asked, answer: report.answer)
                if report.isDocument, let answer = report.answer {
                    state.update(report.asked, in: collection) { page in
                        guard page.captures.insert(answer).inserted else { return }
                        page.bytes += answer.bytes
                    }
                }
                for page in state.pagesWith(report, in: collection) {
                    state.update(page, in: collection) { $0.add(request) }
                }
            }
            state.dropOldest()
        }
    }

    /// Returns the requests of a page and of the frames in it.
    ///
    /// - Parameters:
    ///   - capture: The capture that is shown as the page.
    /// - Returns: `isComplete` is `false` if requests were dropped, or if nothing is known of the page.
    func requests(
        of capture: Address, in collection: String
    ) -> (requests: [PageParts.Request], isComplete: Bool) {
        state.withLock { state in
            let pages = state.pages[collection] ?? [:]
            var waiting = pages.filter { $0.value.captures.contains { $0.isCapture(capture) } }.map(\.key)
            var isComplete = !waiting.isEmpty
            var seen = Set(waiting)
            var requests: [Request] = []
            var known: Set<Request> = []
            while let address = waiting.popLast() {
                guard let page = pages[address] else { continue }
                isComplete = isComplete && page.isComplete && requests.count < Self.requestsMax
                guard requests.count < Self.requestsMax else { break }
                for request in page.requests where known.insert(request).inserted {
                    requests.append(request)
                    if seen.insert(request.asked).inserted { waiting.append(request.asked) }
                }
            }
            return (requests.map(\.looked), isComplete)
        }
    }

    /// For each page, and for a page with its frames.
    fileprivate static let requestsMax = 5000
    fileprivate static let bytesMax = 32 << 20
    fileprivate static let droppedMax = 100_000
}

extension PageRequests.Request {
    /// The request as the store looks it up.
    fileprivate var looked: PageParts.Request {
        PageParts.Request(
            url: asked.url,
            answer: answer.map { .init(url: $0.url, time: CaptureTimestamp(digits: $0.timestamp)) })
    }
}

extension PageRequests.Page {
    fileprivate mutating func add(_ request: PageRequests.Request) {
        guard !known.contains(request) else { return }
        guard requests.count < PageRequests.requestsMax else {
            isComplete = false
            return
        }
        known.insert(request)
        requests.append(request)
        bytes += request.asked.bytes + (request.answer?.bytes ?? 0)
    }
}

extension PageRequests.State {
    /// The pages that a request belongs to. What replaces a document in a frame belongs to the pages with that frame.
    fileprivate func pagesWith(_ report: PageRequests.Report, in collection: String) -> [PageRequests.Address] {
        if let page = report.page { return [page] }
        guard let replaced = report.replaced, let pages = pages[collection] else { return [] }
        return pages.filter { $0.value.known.contains { $0.asked == replaced } }.map(\.key)
    }

    fileprivate mutating func update(
        _ address: PageRequests.Address, in collection: String, _ change: (inout PageRequests.Page) -> Void
    ) {
        let isNew = pages[collection]?[address] == nil
        let isComplete = !isNew || !dropped.contains(Self.hash(collection, address))
        uses += 1
        // In place, since a page has many requests.
        func changed(_ page: inout PageRequests.Page) -> Int {
            let before = page.bytes
            if isNew { (page.bytes, page.isComplete) = (address.bytes, isComplete) }
            page.usedAt = uses
            change(&page)
            return page.bytes - before
        }
        bytes += changed(&pages[collection, default: [:]][address, default: PageRequests.Page()])
    }

    /// Drops the pages that were used least recently while there is too much.
    fileprivate mutating func dropOldest() {
        while bytes > PageRequests.bytesMax {
            let all = pages.flatMap { name, pages in pages.map { (name, $0.key, $0.value) } }
            guard let (name, address, page) = all.min(by: { $0.2.usedAt < $1.2.usedAt }) else { return }
            pages[name]?[address] = nil
            if pages[name]?.isEmpty == true { pages[name] = nil }
            bytes -= page.bytes
            if dropped.count < PageRequests.droppedMax { dropped.insert(Self.hash(name, address)) }
        }
    }

    private static func hash(_ collection: String, _ address: PageRequests.Address) -> Int {
        var hasher = Hasher()
        hasher.combine(collection)
        hasher.combine(address)
        return hasher.finalize()
    }
}
