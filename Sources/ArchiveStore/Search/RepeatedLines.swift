import WebArchive

/// Finds lines that most pages of a site have, such as menus and notices.
///
/// Pages are compared with those that were read before, so the first pages of a site keep theirs. Memory is bounded: when
/// the limits are reached, no further lines are learned.
final class RepeatedLines {
    private struct Site {
        var pages = 0
        var lines: [Int: (pages: Int, last: Int)] = [:]
    }

    private var sites: [String: Site] = [:]
    private var lineCount = 0
    /// The keys of pages that were read, so that captures of one page are counted once.
    private var known: Set<Int> = []
    private var site = ""
    private var isCounted = false

    /// Begins the page with this key. Its parts follow.
    func begin(_ key: String) {
        site = SearchSite.host(ofKey: key)
        isCounted = known.count < Self.pagesMax && known.insert(key.hashValue).inserted
        guard isCounted, sites[site] != nil || sites.count < Self.sitesMax else { return }
        sites[site, default: Site()].pages += 1
    }

    /// Adds the lines of a part of the page that most pages have to those beside its content.
    func mark(_ part: inout TextPart) {
        guard var site = sites.removeValue(forKey: self.site) else { return }
        defer { sites[self.site] = site }
        var found: [Range<Int>] = []
        var start = 0
        for position in part.body.indices where part.body[position] == 0x0A {
            let line = start..<position + 1
            start = position + 1
            guard isRepeated(part.body[line], in: &site) else { continue }
            found.join(line)
        }
        guard !found.isEmpty else { return }
        let all = (part.beside + found).sorted { $0.lowerBound < $1.lowerBound }
        part.beside = all.reduce(into: []) { $0.join($1) }
    }

    private func isRepeated(_ line: ArraySlice<UInt8>, in site: inout Site) -> Bool {
        guard line.count > 1 else { return false }
        var hasher = Hasher()
        line.withUnsafeBytes { hasher.combine(bytes: $0) }
        let hash = hasher.finalize()
        var count = site.lines[hash] ?? (0, 0)
        if isCounted, count.last != site.pages {
            guard count.pages > 0 || lineCount < Self.linesMax else { return false }
            if count.pages == 0 { lineCount += 1 }
            count = (count.pages + 1, site.pages)
            site.lines[hash] = count
        }
        return site.pages >= Self.pagesMin && count.pages * 2 > site.pages
    }

    /// With fewer pages, what they have in common can be content.
    private static let pagesMin = 5
    private static let linesMax = 200_000
    private static let sitesMax = 10_000
    private static let pagesMax = 100_000
}
