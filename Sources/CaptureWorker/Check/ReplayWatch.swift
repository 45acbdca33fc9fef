import Foundation
import Synchronization

/// What a replayed page requests, and what it gets.
final class ReplayWatch: Sendable {
    private struct State {
        /// The captured URL of each open request, and whether it's for a style sheet.
        var open: [String: (url: String, isSheet: Bool)] = [:]
        /// Whether the archive has a captured URL. One that is found once counts as found.
        var isFound: [String: Bool] = [:]
        var lastActivity = ContinuousClock.now
        var page = RecordedPages.Page.none
    }
    private let state = Mutex(State())

    /// Begins with another page.
    ///
    /// URLs that the site refused are expected to fail. Those for which no response came while it was recorded don't count.
    func begin(_ page: RecordedPages.Page) { state.withLock { $0 = State(page: page) } }

    /// Whether nothing has happened for a while. Requests that never end don't count for ever.
    var isQuiet: Bool {
        state.withLock { state in
            state.lastActivity.duration(to: .now) > (state.open.isEmpty ? .seconds(1) : .seconds(8))
        }
    }

    /// The number of URLs that the page requested.
    var requested: Int { state.withLock { $0.isFound.count } }

    /// The URLs that the archive doesn't have.
    var missing: [String] { state.withLock { $0.isFound.filter { !$0.value }.keys.sorted() } }

    func begin(_ event: Network.Requested) {
        state.withLock { state in
            state.lastActivity = .now
            // The viewer's own agent looks for the page's icon.
            guard !Self.isViewer(event.documentURL),
                let url = Self.capturedURL(event.request.url, on: event.documentURL), !state.page.failed.contains(url)
            else { return }
            state.open[event.requestId] = (url, event.type == "Stylesheet")
        }
    }

    func add(_ event: Network.Responded) {
        state.withLock { state in
            state.lastActivity = .now
            guard let (url, _) = state.open[event.requestId] else { return }
            // Inside the archive, the status that the site sent.
            let isFound = event.response.status < 400 || state.page.refused.contains(url)
            state.isFound[url] = isFound || state.isFound[url] ?? false
        }
    }

    /// Notes the end of a request.
    ///
    /// - Parameter failure: How it failed; `nil` if it didn't.
    func end(_ id: String, _ failure: Network.Failed? = nil) {
        state.withLock { state in
            state.lastActivity = .now
            guard let (url, isSheet) = state.open.removeValue(forKey: id), let failure else { return }
            // What a page stops itself doesn't count. Of a style sheet that isn't one, Chromium says the same.
            guard failure.canceled != true || isSheet, state.isFound[url] == nil else { return }
            state.isFound[url] = state.page.refused.contains(url)
        }
    }

    /// Returns the captured URL of a request to the replay engine: `/ID-0123456789ab/:RANDOM/20240101000000mp_/https://…`.
    ///
    /// - Parameter page: The replay URL of the page that requests it. A URL without a scheme has that of the page.
    /// - Returns: `nil` for requests to the viewer.
    static func capturedURL(_ url: String, on page: String = "") -> String? {
        guard let match = try? pattern.firstMatch(in: url) else { return nil }
        let captured = ExchangeBook.withoutFragment(String(match.1))
        guard captured.hasPrefix("//") else { return captured }
        return (page.contains("/http://") ? "http:" : "https:") + captured
    }

    /// Whether a page is one of ours: at the root of its origin.
    private static func isViewer(_ url: String) -> Bool { url.wholeMatch(of: /http:\/\/[^\/]+\/(?:[?#].*)?/) != nil }

    private static var pattern: Regex<(Substring, Substring)> {
        /^http:\/\/[^\/]+\/[a-z0-9-]+-[0-9a-f]{12}\/(?::[\w-]+\/)?\d*[a-z]+_\/((?:https?:)?\/\/.+)$/
    }
}
