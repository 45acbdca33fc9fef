import ArchiveStore
import CaptureAPI
import CaptureWorker
import ReplayServer
import Synchronization

/// Updates of the tools that the administrator asked for, one at a time.
final class ToolUpdates: Sendable {
    private let environment: ToolEnvironment
    private let versions: ToolVersions
    private let state = Mutex(AdministratorState.Update())
    private let task = Mutex<ManagedTask<Void>?>(nil)

    init(_ toolbox: Toolbox, _ versions: ToolVersions) {
        (environment, self.versions) = (ToolEnvironment(root: toolbox.root), versions)
    }

    /// What the last one did, or does.
    var current: AdministratorState.Update { state.withLock { $0 } }

    /// Starts to install the newest version.
    ///
    /// - Returns: Whether no other one was running.
    func start(nightly: Bool) -> Bool {
        begin { [environment, self] in
            try await environment.install(.latest(nightly: nightly)) { line in state.withLock { $0.lines.append(line) }
            }
        }
    }

    /// Starts to return to the version before.
    ///
    /// - Returns: Whether no update was running.
    func rollBack() -> Bool { begin { [environment] in try await environment.rollBack() } }

    private func begin(_ work: @escaping @Sendable () async throws -> String) -> Bool {
        let isFirst = state.withLock { state in
            guard !state.running else { return false }
            state = AdministratorState.Update()
            state.running = true
            return true
        }
        guard isFirst else { return false }
        let update = ManagedTask { [self] in
            let end: (line: String?, error: String?)
            do {
                end = ("yt-dlp \(try await work()) is in use", nil)
            } catch {
                end = (nil, (error as? StoreError)?.what ?? "\(error)")
            }
            versions.forget()
            state.withLock { state in
                state.lines += [end.line].compactMap { $0 }
                (state.running, state.error) = (false, end.error)
            }
        }
        task.withLock { $0 = update }
        return true
    }

    /// Ends an update that runs; the version in use stays.
    func end() async { await task.withLock { $0 }?.end() }
}
