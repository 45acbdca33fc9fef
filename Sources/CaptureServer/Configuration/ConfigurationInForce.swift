import Logging
import Synchronization

/// The configuration that a server starts with, and the file whose changes it follows.
package struct ConfigurationInForce: Sendable {
    let file: ConfigurationFile
    let values: CaptureConfiguration
    let stamp: String?
    /// Whether the command line names the port.
    let isPortFixed: Bool
    let overrides: @Sendable (inout CaptureSettings, CaptureConfiguration) -> Void

    /// - Parameters:
    ///   - stamp: The version of the file that `values` are from.
    ///   - isPortFixed: Whether changes of `server.port` have no effect.
    ///   - overrides: Sets what the command line says instead of the file; called after each change.
    package init(
        _ file: ConfigurationFile, _ values: CaptureConfiguration, stamp: String?, isPortFixed: Bool,
        overrides: @escaping @Sendable (inout CaptureSettings, CaptureConfiguration) -> Void
    ) {
        (self.file, self.values, self.stamp) = (file, values, stamp)
        (self.isPortFixed, self.overrides) = (isPortFixed, overrides)
    }
}
