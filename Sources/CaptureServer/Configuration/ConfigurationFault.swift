/// Something wrong in a configuration file, and what to write instead.
package struct ConfigurationFault: Sendable, Hashable, Encodable {
    /// From 1.
    package let line: Int
    /// From 1, in Unicode scalars.
    package let column: Int
    /// The path of the key, such as `server.port`; `nil` for the file as a whole.
    package let key: String?
    package let message: String

    /// Returns `config.yaml:12:3: server.port: …`.
    package func text(file: String) -> String {
        ["\(file):\(line):\(column)", key, message].compactMap { $0 }.joined(separator: ": ")
    }
}

/// What was read from a configuration file.
package struct ConfigurationReading: Sendable, Hashable {
    /// `nil` if there are faults.
    package let configuration: CaptureConfiguration?
    /// All faults, in the order of their lines.
    package let faults: [ConfigurationFault]
    /// What is valid, but less safe than it could be.
    package let warnings: [ConfigurationFault]
}
