import ArchiveStore
import Foundation

extension FuzzReader {
    /// Searches a small library. The parameters are those of `/api/search`.
    static func readSearch(_ bytes: [UInt8]) throws {
        let parameters = parameters(of: bytes)
        func values(_ name: String) -> [String] { parameters.filter { $0.name == name }.map(\.value) }
        let text = values("q").first ?? ""
        do {
            let words = try SearchQuery(text)
            var query = words
            query.restrict(sites: values("site"), types: values("type"), languages: values("lang"))
            query.archives += values("in")
            query.collections += values("collection")
            guard query.restrict(after: values("after").first, before: values("before").first) else { return }
            let searcher = try searched.store.searcher
            let found = try searcher.search(query, limit: SearchedLibrary.pagesMax, hasFacets: true).hits.map(\.url)
            _ = try searcher.suggestions(for: text, limit: 8)
            // A filter in the text and a parameter of its kind are alternatives, so both can find more than one.
            let alternatives = ["site", "type", "lang", "in", "collection"]
            guard !words.isEmpty, !text.contains(":") || alternatives.allSatisfy({ values($0).isEmpty }) else { return }
            let unrestricted = try searcher.search(words, limit: SearchedLibrary.pagesMax).hits.map(\.url)
            try require(Set(found).isSubset(of: unrestricted), "a restriction finds more")
        } catch let error as StoreError where error.code == .invalidQuery {
        } catch let error as StoreError {
            // The library isn't damaged, so every other error is one of the query.
            throw BrokenProperty(description: "the search failed: \(error)")
        }
    }

    private static let searched = SearchedLibrary()
}

/// A library with a few pages, in a temporary folder.
private struct SearchedLibrary {
    static let pagesMax = 20
    private static let folder = NSTemporaryDirectory() + "/fuzz-\(ProcessInfo.processInfo.processIdentifier)-\(UUID())"
    private let result: Result<ArchiveStore, any Error>

    var store: ArchiveStore {
        get throws { try result.get() }
    }

    init() {
        result = Result { try Self.make() }
        atexit { try? FileManager.default.removeItem(atPath: SearchedLibrary.folder) }
    }

    private static func make() throws -> ArchiveStore {
        let store = try ArchiveStore(at: folder + "/store")
        let pages = [
            ("http://reef.example/", "Reef Watch", "Half of the coral died in the summer."),
            ("http://reef.example/star?a=1", "Sea stars", "A sea star eats corals and limpets."),
            ("http://news.reef.example/2016", "Bleaching", "Bleaching of coral in 2016."),
            ("http://other.example/jp", "天気", "東京都の天気は晴れ Café-Straße"),
        ]
        let lines = pages.map { url, title, text in
            #"{"url":"\#(url)","title":"\#(title)","text":"\#(text)","ts":"2019-03-04T05:06:07Z"}"#
        }
        let list = ([#"{"format":"json-pages-1.0","id":"pages"}"#] + lines).joined(separator: "\n")
        let path = folder + "/sea.wacz"
        try Data(SmallPackage.wacz([("pages/pages.jsonl", Array(list.utf8))])).write(to: URL(fileURLWithPath: path))
        _ = try store.jobs.importAny(at: path, options: ImportOptions(title: "The sea", id: ArchiveID("sea")))
        try store.jobs.queueTexts()
        let runner = JobRunner(store)
        while try runner.runNext() != nil {}
        let found = try store.searcher.search(SearchQuery("coral"), limit: pagesMax).hits.count
        try require(found == 2, "\(found) pages have the word in the prepared library")
        return store
    }
}
