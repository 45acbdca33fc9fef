import ReplayHostKit
import UnixSignals

extension ReplayHost {
    /// Serves until SIGINT or SIGTERM, then finishes running responses.
    ///
    /// - Parameter onReady: Called once the server accepts connections.
    func serveUntilSignal(onReady: (Addresses) -> Void) async throws(ReplayHostError) {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        onReady(try await start())
        for await _ in signals { break }
        await stop(within: nil)
    }
}
