/// The configuration that a server starts with, and the file whose changes it follows.
package struct ConfigurationInForce: Sendable {
    let file: ConfigurationFile
    let values: CaptureConfiguration
    let stamp: String?
    let overrides: @Sendable (inout CaptureSettings) -> Void

    /// - Parameters:
    ///   - stamp: The version of the file that `values` are from.
    ///   - overrides: Sets what the command line says instead of the file.
    package init(
        _ file: ConfigurationFile, _ values: CaptureConfiguration, stamp: String?,
        overrides: @escaping @Sendable (inout CaptureSettings) -> Void
    ) {
        (self.file, self.values, self.stamp, self.overrides) = (file, values, stamp, overrides)
    }
}
