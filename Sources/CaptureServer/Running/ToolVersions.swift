import CaptureAPI
import CaptureWorker
import Synchronization

/// The versions of the tools, found out in the background, since starting them takes seconds.
final class ToolVersions: Sendable {
    private struct State {
        var found: [ToolDescription] = []
        var at: ContinuousClock.Instant?
    }
    private let toolbox: Toolbox
    private let state = Mutex(State())

    init(_ toolbox: Toolbox) {
        self.toolbox = toolbox
    }

    /// Returns the versions that are known. A tool that was installed or removed since has none yet.
    func current() -> [ToolDescription] {
        let known = state.withLock { $0.found }
        return Toolbox.Tool.allCases.map { tool in
            let path = toolbox.path(of: tool)
            let same = known.first { $0.name == tool.rawValue && $0.path == path }
            return same ?? ToolDescription(name: tool.rawValue, version: nil, path: path)
        }
    }

    /// Returns the version of a tool. Starts the tool if its version isn't known yet.
    func version(of tool: Toolbox.Tool) async -> String? {
        if let known = current().first(where: { $0.name == tool.rawValue })?.version { return known }
        return await toolbox.version(of: tool)
    }

    /// Finds the versions out again soon, after an update.
    func forget() { state.withLock { $0 = State() } }

    /// Finds the versions out again every hour, and when a path changes.
    func keepUpToDate() async {
        while !Task.isCancelled {
            let paths = Toolbox.Tool.allCases.map { toolbox.path(of: $0) }
            let (found, at) = state.withLock { ($0.found, $0.at) }
            if found.map(\.path) != paths || at.map({ $0.duration(to: .now) > .seconds(3600) }) ?? true {
                let descriptions = await toolbox.descriptions()
                state.withLock { ($0.found, $0.at) = (descriptions, .now) }
            }
            guard (try? await Task.sleep(for: .seconds(10))) != nil else { return }
        }
    }
}
