import ArchiveStore
package import CaptureAPI
package import CaptureWorker
package import EgressGuard
package import Logging

/// The values of `config.yaml`, each with its default.
package struct CaptureConfiguration: Sendable, Hashable {
    package var server = Server()
    package var downloads = Downloads()
    package var security = Security()
    package var logging = LogSettings()
    package var egress = Egress()
    /// When the recording of a page ends.
    package var page = RecordingLimits()
    /// When an attempt ends.
    package var attempt = AttemptLimits()
    package var isolation = IsolationRule.auto

    /// Where the server listens, and under which names.
    package struct Server: Sendable, Hashable {
        package var name = "Video Download Server"
        /// An IP address of this computer, `0.0.0.0`, `::` or `localhost`.
        package var host = "127.0.0.1"
        package var port = 58_443
        package var ssl = SSL()
        /// Other host names that the server answers to.
        package var names: [String] = []
        /// `HOST:PORT` at which the server can be reached from the internet.
        package var wan: String?

        /// Whether only programs of this computer can connect.
        package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
    }

    /// The encrypted port.
    package struct SSL: Sendable, Hashable {
        package var isEnabled = false
        /// If it's the same as that of the server, there is no unencrypted port.
        package var port = 8443
        /// The absolute path of a PEM file; `nil` if the server makes its own certificate.
        package var certificateFile: String?
        package var keyFile: String?
    }

    package struct Downloads: Sendable, Hashable {
        /// An absolute path; `nil` for `~/Downloads/VidSaver`.
        package var rootDirectory: String?
        package var concurrentMax = 1
        package var retriesMax = 3
        /// Only these are accepted; if it's empty, all are.
        package var allowedPlatforms: [Genre] = []
        package var keepsMediaFile = true
    }

    package struct Security: Sendable, Hashable {
        /// Who needs a key.
        package enum KeyRule: String, Sendable, Hashable, CaseIterable {
            /// Clients of the network.
            case network = "true"
            /// No client; from the network, only private IP addresses are admitted.
            case never = "false"
            /// Also programs on this computer.
            case always
        }
        /// Keys for everyone in the household.
        package var apiKeys: [String] = []
        package var keyRule = KeyRule.network
        /// How many downloads a client can add in an hour.
        package var downloadsPerHour = 100
    }

    package struct LogSettings: Sendable, Hashable {
        package var level = Logger.Level.info
    }

    /// What the guard lets through.
    package struct Egress: Sendable, Hashable {
        package var ports: Set<Int> = [80, 443]
        package var allowed: Set<EgressRules.Exception> = []
    }

    /// Whether tools may run without isolation.
    package enum IsolationRule: String, Sendable, Hashable, CaseIterable {
        /// Where isolation doesn't work, they run without it.
        case auto
        /// Where isolation doesn't work, the server doesn't start.
        case required
    }
}

extension CaptureSettings {
    /// Takes over what a configuration says about downloads.
    package mutating func apply(_ configuration: CaptureConfiguration) {
        concurrentMax = configuration.downloads.concurrentMax
        keepsFiles = configuration.downloads.keepsMediaFile
        pageLimits = configuration.page
        attempt = configuration.attempt
        egress = configuration.egress
        rules.downloadsPerHour = configuration.security.downloadsPerHour
        rules.retryDelays = configuration.downloads.retryDelays
    }
}

extension CaptureConfiguration.Downloads {
    /// The waits before further attempts: 30 seconds, 2 minutes, then 5 minutes each.
    package var retryDelays: [Duration] {
        let first: [Duration] = [.seconds(30), .seconds(120)]
        return (0..<retriesMax).map { $0 < first.count ? first[$0] : .seconds(300) }
    }
}
