public import Foundation
public import Logging
import ReplayServer

extension ReplayHost {
    /// The configuration of a host.
    public struct Configuration: Sendable {
        /// The folder of the archives. It is created if necessary. Don't put other files there.
        public var storeFolder: URL
        /// The folder `www`, with the user interface and the replay engine.
        public var assetsFolder: URL
        /// The port of the library.
        public var port: Port
        /// How archives are isolated from each other in the browser.
        public var origins: Origins
        /// The users of this computer whose programs may connect.
        public var allowedUsers: AllowedUsers
        /// The logger. Opened URLs are logged at `debug` and below only.
        public var logger: Logger
        /// After how many days archives are verified again in the background; `nil` for never.
        public var auditDays: Int?
        /// A folder whose archives are imported as they appear; `nil` for none.
        public var watchedFolder: URL?
        /// Whether files in the watched folder are linked instead of copied.
        public var linksWatchedFiles = false
        /// Whether the text of PDFs is read with `pdftotext` even if no sandbox for it works, as on macOS. Without a
        /// sandbox, a PDF that exploits a flaw in `pdftotext` can do everything that your program can.
        public var readsPDFsWithoutSandbox = false
        /// The command that people use to start the host again; the library shows it when the host has stopped.
        package var startCommand = "replayhost serve"
        /// Listening sockets to use at the first start instead of `port`.
        package var inheritedSockets: [Int32] = []

        /// Creates a configuration.
        public init(
            storeFolder: URL, assetsFolder: URL, port: Port = .any, origins: Origins = .automatic,
            allowedUsers: AllowedUsers = .own(), logger: Logger = Logger(label: "replayhost")
        ) {
            self.storeFolder = storeFolder
            self.assetsFolder = assetsFolder
            self.port = port
            self.origins = origins
            self.allowedUsers = allowedUsers
            self.logger = logger
        }
    }

    /// A port on the loopback interface.
    public enum Port: Sendable, Hashable {
        /// A port number, 1 to 65535.
        case fixed(Int)
        /// A free port, which is chosen at the first start and kept from then on.
        case any

        var number: Int? {
            if case .fixed(let number) = self { number } else { nil }
        }
    }

    /// How each archive gets its own origin, which isolates it in the browser.
    public enum Origins: Sendable, Hashable {
        /// By name if the browser resolves `*.localhost`, otherwise by port.
        case automatic
        /// By name: `http://ID.replayhost.localhost:PORT`.
        case names
        /// By port: each open archive gets its own port on `localhost`. For web views whose app-bound domain is
        /// `localhost`, and for systems that don't resolve `*.localhost`.
        case ports

        var policy: HostPolicy.Origins {
            switch self {
            case .automatic: .auto
            case .names: .names
            case .ports: .ports
            }
        }
    }

    /// The users of this computer whose programs may connect. Others get a 403.
    ///
    /// Only Linux tells which user a connection comes from. On other systems this has no effect: every user may
    /// connect.
    public enum AllowedUsers: Sendable, Hashable {
        /// The user who runs your program, root, and the users with these IDs.
        case own(and: Set<UInt32> = [])
        /// Every user.
        case everyone

        /// The IDs of the allowed users besides yours and root's; `nil` for everyone.
        package var identifiers: Set<UInt32>? {
            switch self {
            case .own(let others): others
            case .everyone: nil
            }
        }
    }

    /// The URL and the port of the server.
    public struct Addresses: Sendable, Hashable {
        /// The URL of the library, for example `http://localhost:8080`.
        public let library: URL
        /// The port of the library.
        public let port: Int
    }
}
