/// Chooses the main page of an archive whose `datapackage.json` names none.
///
/// Prefers a page with status 200, on the host of the crawl's first seed, with the shortest path. Extra pages count
/// only if the page list is empty. Of equally good pages, the first one wins.
package struct MainPageChoice {
    /// The best page so far.
    package private(set) var page: Page?
    private var rank: Rank?
    private var seedHost: String?
    private var isSeedSure = false
    private var pagesSeen = 0

    package init() {}

    /// Considers a page.
    ///
    /// - Returns: Whether another page could change the choice.
    package mutating func add(_ page: Page) -> Bool {
        if page.list == .extraPages, let list = self.page?.list, list == .pages { return false }
        let parts = HTTPURLParts(page.url)
        if seedHost == nil || page.isSeed && !isSeedSure {
            seedHost = parts.map(Self.host)
            isSeedSure = page.isSeed
            // The page chosen so far may be on another host.
            if let chosen = self.page { rank = Rank(chosen, HTTPURLParts(chosen.url), seedHost: seedHost) }
        }
        let rank = Rank(page, parts, seedHost: seedHost)
        if self.rank.map({ rank < $0 }) ?? true { (self.page, self.rank) = (page, rank) }
        pagesSeen += 1
        return pagesSeen < Self.pagesMax
    }

    private struct Rank: Comparable {
        let status: Int
        let host: Int
        let pathBytes: Int

        init(_ page: Page, _ parts: HTTPURLParts?, seedHost: String?) {
            status = page.status == 200 ? 0 : page.status == nil ? 1 : 2
            host = parts.map(MainPageChoice.host) == seedHost ? 0 : 1
            // `https://example.org` and `https://example.org/` are the same page.
            pathBytes = parts.map { max($0.path.count, 1) + $0.query.count } ?? .max
        }

        static func < (a: Rank, b: Rank) -> Bool { (a.status, a.host, a.pathBytes) < (b.status, b.host, b.pathBytes) }
    }

    private static func host(_ parts: HTTPURLParts) -> String {
        let host = parts.text(parts.host).lowercased()
        return host.hasPrefix("www.") ? String(host.dropFirst(4)) : host
    }

    /// The number of pages to consider. A list can have millions, but the main page is among the first.
    package static let pagesMax = 10_000
}
