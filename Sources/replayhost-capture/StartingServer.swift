import ArchiveStore
import CommandSupport

/// Repeats an attempt to use the queue while a server is starting, or another command uses it.
func whileServerStarts<Value>(_ attempt: () async throws -> Value) async throws -> Value {
    let end = ContinuousClock.now + .seconds(60)
    while true {
        do {
            return try await attempt()
        } catch let error as StoreError
            where ContinuousClock.now < end && (error.code == .locked || error.what == RunningServer.starting)
        {
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
