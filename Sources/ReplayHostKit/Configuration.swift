public import Foundation
public import Logging
import ReplayServer

extension ReplayHost {
    /// What to run, and where.
    public struct Configuration: Sendable {
        /// The folder that holds the archives; it is made when it is not there, and belongs to the host alone.
        public var storeFolder: URL
        /// The folder `www`: user interface and replay engine.
        public var assetsFolder: URL
        /// The port of the library.
        public var port: Port
        /// How archives are kept apart in the browser.
        public var origins: Origins
        /// The users of this computer whose programs the server answers.
        public var allowedUsers: AllowedUsers
        /// Gets what happens; visited addresses only at `debug` and below.
        public var logger: Logger
        /// Sockets that listen already, which are used at the first start instead of `port`.
        package var inheritedSockets: [Int32] = []

        /// - Parameters: As the properties of the same names.
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

    /// A port of this computer's loopback addresses.
    public enum Port: Sendable, Hashable {
        /// 1 to 65535.
        case fixed(Int)
        /// Any that is free at the first start; the same from then on.
        case any

        var number: Int? {
            if case .fixed(let number) = self { number } else { nil }
        }
    }

    /// How archives are kept apart in the browser, each on an origin of its own.
    public enum Origins: Sendable, Hashable {
        /// By name where the browser finds `*.localhost` on this computer, else by port.
        case automatic
        /// `http://ID.replayhost.localhost:PORT`.
        case names
        /// Everything on `localhost`; each archive that is opened gets a port of its own there. For web views whose app-bound
        /// domain is `localhost`, and for systems that do not resolve `*.localhost`.
        case ports

        var policy: HostPolicy.Origins {
            switch self {
            case .automatic: .auto
            case .names: .names
            case .ports: .ports
            }
        }
    }

    /// The users of this computer whose programs the server answers; those of others get a 403.
    ///
    /// Only Linux says whose connection it is. Other systems do not, and every user is answered there, whatever is set.
    public enum AllowedUsers: Sendable, Hashable {
        /// The user that runs your program, root, and the users with these IDs.
        case own(and: Set<UInt32> = [])
        /// Every user.
        case everyone

        var identifiers: Set<UInt32>? {
            switch self {
            case .own(let others): others
            case .everyone: nil
            }
        }
    }

    /// Where the server answers.
    public struct Addresses: Sendable, Hashable {
        /// The library, for example `http://localhost:8080`.
        public let library: URL
        /// Its port.
        public let port: Int
    }
}
