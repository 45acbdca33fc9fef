import Logging
import Synchronization

/// Applies each valid change of the configuration file. After an invalid one, the configuration in force stays.
final class ConfigurationUpdates: Sendable {
    /// How often the file is looked at.
    private static let interval = Duration.seconds(1)
    private static let name = "config.yaml"

    let file: ConfigurationFile
    private let apply: @Sendable (CaptureConfiguration) async -> Void
    private let logger: Logger

    private struct State {
        /// The version of the file that was read last.
        var stamp: String?
        var faults: [ConfigurationFault] = []
    }
    private let state: Mutex<State>

    /// - Parameter stamp: The version of the file that is in force.
    init(
        _ file: ConfigurationFile, since stamp: String?, logger: Logger,
        apply: @escaping @Sendable (CaptureConfiguration) async -> Void
    ) {
        (self.file, self.apply, self.logger) = (file, apply, logger)
        state = Mutex(State(stamp: stamp))
    }

    /// What is wrong with the file that is there now.
    var faults: [ConfigurationFault] { state.withLock { $0.faults } }

    /// Follows the file until the task is cancelled.
    func run() async {
        while (try? await Task.sleep(for: Self.interval)) != nil { await look() }
    }

    /// Applies the file if it has changed.
    func look() async {
        let stamp = file.stamp
        guard state.withLock({ $0.stamp }) != stamp else { return }
        let reading = file.read()
        state.withLock { $0 = State(stamp: stamp, faults: reading.faults) }
        for warning in reading.warnings { logger.warning("\(warning.text(file: Self.name))") }
        guard let configuration = reading.configuration else {
            for fault in reading.faults { logger.error("\(fault.text(file: Self.name))") }
            logger.error("config.yaml isn't valid; nothing was changed")
            return
        }
        await apply(configuration)
        logger.notice("config.yaml was applied")
    }
}
