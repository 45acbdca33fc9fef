import ArchiveStore
import Hummingbird
import WebArchive

extension ArchiveStore.CaptureRequest {
    /// Parses the query of `…/explain`. Documented in `docs/json.md`.
    ///
    /// - Throws: `ErrorResponse` that names the missing or invalid parameter.
    fileprivate init(explaining query: Parameters) throws {
        let url = try ListParameters.url(in: query)
        guard let text = query["ts"], !text.isEmpty else {
            self.init(url: url, time: nil)
            return
        }
        // An incomplete time means the end of its period.
        guard let time = CaptureTimestamp(endOf: text) else { throw ListParameters.invalidTime("ts", in: query) }
        self.init(url: url, time: time)
    }
}

extension Site {
    /// Responds with the reason why a URL can't be shown.
    func explanation(
        _ request: Request, _ context: ConnectionContext, of find: @escaping @Sendable (String) throws -> Replayable
    ) async throws -> Response {
        let wanted = try ArchiveStore.CaptureRequest(explaining: request.uri.queryParameters)
        return try await found(context) { try store.resolver.explain(wanted, in: find($0), isWanted: $1) }
    }
}
