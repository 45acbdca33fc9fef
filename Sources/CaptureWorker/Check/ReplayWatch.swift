import Foundation
import Synchronization

/// What a replayed page requests, and what it gets.
final class ReplayWatch: Sendable {
    private struct State {
        /// The captured URL of each open request.
        var open: [String: String] = [:]
        /// Whether the archive has a captured URL. One that is found once counts as found.
        var isFound: [String: Bool] = [:]
        var lastActivity = ContinuousClock.now
        var refused: Set<String> = []
    }
    private let state = Mutex(State())

    /// Begins with another page.
    ///
    /// - Parameter refused: The URLs that the site refused. They are expected to be missing, or to fail.
    func begin(refused: Set<String>) { state.withLock { $0 = State(refused: refused) } }

    /// Whether nothing has happened for a while. Requests that never end don't count for ever.
    var isQuiet: Bool {
        state.withLock { state in
            state.lastActivity.duration(to: .now) > (state.open.isEmpty ? .seconds(1) : .seconds(8))
        }
    }

    var requested: Set<String> { state.withLock { Set($0.isFound.keys) } }

    /// The URLs that the archive doesn't have.
    var missing: [String] { state.withLock { $0.isFound.filter { !$0.value }.keys.sorted() } }

    func begin(_ event: Network.Requested) {
        state.withLock { state in
            state.lastActivity = .now
            // The viewer's own agent looks for the page's icon.
            guard let url = Self.capturedURL(event.request.url), !Self.isViewer(event.documentURL) else { return }
            state.open[event.requestId] = url
        }
    }

    func add(_ event: Network.Responded) {
        state.withLock { state in
            state.lastActivity = .now
            guard let url = state.open[event.requestId] else { return }
            // Inside the archive, the status that the site sent.
            let isFound = event.response.status < 400 || state.refused.contains(url)
            state.isFound[url] = isFound || state.isFound[url] ?? false
        }
    }

    /// - Parameter hasFailed: Whether there was no response. A page that stops a request itself isn't counted.
    func end(_ id: String, hasFailed: Bool, isCanceled: Bool = false) {
        state.withLock { state in
            state.lastActivity = .now
            guard let url = state.open.removeValue(forKey: id), hasFailed, !isCanceled else { return }
            if state.isFound[url] == nil { state.isFound[url] = state.refused.contains(url) }
        }
    }

    /// Returns the captured URL of a request to the replay engine: `/ID-0123456789ab/:RANDOM/20240101000000mp_/https://…`.
    ///
    /// - Returns: `nil` for requests to the viewer.
    static func capturedURL(_ url: String) -> String? {
        guard let match = try? pattern.firstMatch(in: url) else { return nil }
        return ExchangeBook.withoutFragment(String(match.1))
    }

    /// Whether a page is one of ours: at the root of its origin.
    private static func isViewer(_ url: String) -> Bool { url.wholeMatch(of: /http:\/\/[^\/]+\/(?:[?#].*)?/) != nil }

    private static var pattern: Regex<(Substring, Substring)> {
        /^http:\/\/[^\/]+\/[a-z0-9-]+-[0-9a-f]{12}\/(?::[\w-]+\/)?\d*[a-z]+_\/(https?:\/\/.+)$/
    }
}
