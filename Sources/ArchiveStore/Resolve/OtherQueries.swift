import Foundation
import WebArchive

/// The captured URLs that differ from one URL only in their query.
struct OtherQueries {
    /// The fuzzy match, then the captures with the longest common start.
    private(set) var best: [Resolver.Found] = []
    private var fuzzyMatch: String?
    private var urls: Set<String> = []
    private var hasMore = false

    /// The maximum number of captures to read in each archive.
    private static let capturesMax = 1000

    /// What was found; `nil` if there is nothing.
    var evidence: Explanation.OtherQueries? {
        guard !best.isEmpty else { return nil }
        return Explanation.OtherQueries(total: urls.count, more: hasMore, fuzzyMatch: fuzzyMatch)
    }

    init(_ url: String, _ explainer: Explainer) throws {
        guard CapturedURL.Parts(url) != nil else { return }
        let paths = Self.paths(url)
        var found: [Resolver.Found] = []
        for index in explainer.indexes {
            // Queries end in no slash, so both forms of the path are searched.
            for path in paths {
                let query = CaptureQuery(url: "\(path)?", matchType: .prefix)
                let entries = try index.wacz.firstCaptures(matching: query, limit: Self.capturesMax, explainer.check)
                for entry in entries where !entry.isErrorPage && !entry.namesMethod {
                    if urls.insert(entry.url).inserted { found.append((index, entry)) }
                }
                hasMore = hasMore || entries.count == Self.capturesMax
            }
        }
        let plain = try Resolver.closest(explainer.lookup(paths[0]), among: explainer.indexes) { !$1.isErrorPage }
        if let plain, urls.insert(plain.entry.url).inserted { found.append(plain) }
        let fuzzy = try Self.fuzzyMatch(url, explainer)
        if let fuzzy {
            fuzzyMatch = fuzzy.entry.url
            urls.insert(fuzzy.entry.url)
        }
        // One of them may be percent-encoded.
        let wanted = url.removingPercentEncoding ?? url
        let ranked = found.map { found in
            let other = found.entry.url.removingPercentEncoding ?? found.entry.url
            return (found, other.commonPrefix(with: wanted))
        }.sorted { $0.1 > $1.1 }.map(\.0)
        best = (fuzzy.map { [$0] } ?? []) + ranked.filter { $0.entry.url != fuzzy?.entry.url }
    }

    /// Returns the URL without its query, with and without a trailing slash.
    private static func paths(_ url: String) -> [String] {
        let path = String(url.prefix { $0 != "?" && $0 != "#" })
        guard let parts = CapturedURL.Parts(path), parts.path.count > 1 else { return [path] }
        return [path, path.hasSuffix("/") ? String(path.dropLast()) : "\(path)/"]
    }

    /// Returns the capture that replay by lookups shows instead.
    private static func fuzzyMatch(_ url: String, _ explainer: Explainer) throws -> Resolver.Found? {
        guard let match = FuzzyMatch(url) else { return nil }
        return try Resolver.similarCapture(match, explainer.lookup(url), among: explainer.indexes) { $0 }
    }
}

extension CDXJEntry {
    /// Whether the capture answers a request with another method than `GET`.
    fileprivate var namesMethod: Bool {
        (method ?? "GET") != "GET" && method != "HEAD" || urlKey.contains("__wb_method=")
    }
}
