import ArchiveStore
import Hummingbird
import WebArchive

extension Site {
    /// Responds with the captures that make up a page. Documented in `docs/json.md`.
    func parts(
        _ request: Request, _ context: ConnectionContext, of find: @escaping @Sendable (String) throws -> Replayable
    ) async throws -> Response {
        let query = request.uri.queryParameters
        let url = try ListParameters.url(in: query)
        let timestamp = query["ts"].map(String.init) ?? ""
        guard CaptureTimestamp(digits: timestamp) != nil else { throw ListParameters.invalidTime("ts", in: query) }
        return try await found(context) { name, isWanted in
            let replayable = try find(name)
            let page = PageRequests.Address(url: url, timestamp: timestamp)
            let (requests, isComplete) = pageRequests.requests(of: page, in: replayable.replayCollection)
            let own = PageParts.Request(
                url: url, answer: .init(url: url, time: CaptureTimestamp(digits: timestamp)))
            return try store.resolver.parts(
                [own] + requests, isComplete: isComplete, in: replayable, isWanted: isWanted)
        }
    }
}
