package import ArchiveStore
import Foundation
package import Logging
import ReplayServer
import ServiceLifecycle
import UnixSignals

/// A store and the server in front of it, as one thing to run.
package struct ReplayHost: Sendable {
    /// The version of this program.
    package static let version = "0.1.0"

    /// What to run and where.
    package struct Configuration: Sendable {
        package var store: ArchiveStore
        /// Absolute path of the folder `www`.
        package var assetsFolder: String
        /// 0 for any free one.
        package var port: Int
        package var logger: Logger

        package init(store: ArchiveStore, assetsFolder: String, port: Int, logger: Logger) {
            self.store = store
            self.assetsFolder = assetsFolder
            self.port = port
            self.logger = logger
        }
    }

    /// What a person is told once the server answers.
    package struct Ready: Sendable {
        /// For example `http://localhost:8080`.
        package let address: String
        /// Whether the replay engine is there.
        package let hasEngine: Bool
    }

    private let configuration: Configuration
    private let server: ReplayServer
    private let assets: Assets
    /// `nil` for a store that can only be read: several servers may serve it.
    private let serverFile: ServerFile?

    /// Takes the store's lock and plans the listeners; nothing is started yet.
    ///
    /// - Throws: `StoreError` `locked` when another server runs on the store (that it does is said first, also when it has the
    ///   port as well), `PortUnavailable` when the port cannot be had.
    package init(_ configuration: Configuration) throws {
        self.configuration = configuration
        assets = Assets(folder: configuration.assetsFolder)
        let store = configuration.store
        let serverFile = store.isReadOnly ? nil : try ServerFile(layout: store.layout)
        self.serverFile = serverFile
        do {
            server = try ReplayServer(
                store: configuration.store, assets: assets, port: configuration.port, version: Self.version,
                logger: configuration.logger)
        } catch let error as PortInUse {
            serverFile?.remove()
            throw PortUnavailable(what: error.description, isTaken: true)
        } catch let error as ListenFailure {
            serverFile?.remove()
            throw PortUnavailable(what: error.description, isTaken: false)
        }
    }

    /// Serves until SIGINT or SIGTERM; then downloads under way are finished first.
    ///
    /// - Parameter onReady: Called when connections are accepted.
    /// - Throws: `PortUnavailable` when somebody took the port after it was found free.
    package func run(onReady: @escaping @Sendable (Ready) async -> Void) async throws {
        defer { serverFile?.remove() }
        try serverFile?.write(
            ServerDescription(
                address: server.address, port: server.port, pid: ProcessInfo.processInfo.processIdentifier,
                token: server.token))
        let ready = Ready(address: server.address, hasEngine: try assets.engine() != nil)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: server.services { await onReady(ready) }.map { .init(service: $0) },
                gracefulShutdownSignals: [.sigint, .sigterm], logger: configuration.logger))
        do {
            try await group.run()
        } catch let error as PortInUse {
            throw PortUnavailable(what: error.description, isTaken: true)
        }
    }

    /// The engine that the assets hold; `nil` when it was not fetched.
    package static func engine(assetsFolder: String) throws -> (name: String, version: String, sha256: String)? {
        try Assets(folder: assetsFolder).engine().map { ($0.name, $0.version, $0.sha256) }
    }

    /// Whether a server could listen on the port; for `doctor`.
    package static func portProblem(_ port: Int) -> String? {
        do {
            _ = try Listener.plan(port: port)
            return nil
        } catch {
            return "\(error)"
        }
    }
}

/// The port cannot be had.
package struct PortUnavailable: Error, Sendable {
    /// What is wrong, in words.
    package let what: String
    /// Another program has it, rather than that this user may not have it.
    package let isTaken: Bool
}

/// Where `www` is.
package enum AssetsLocation {
    /// `--assets`, else `REPLAYHOST_ASSETS`, else `<binary>/../share/replayhost/www`, else the checkout's.
    package static func choose(option: String?, environment: [String: String], executable: String) -> String {
        if let option { return absolute(option) }
        if let variable = environment["REPLAYHOST_ASSETS"], !variable.isEmpty { return absolute(variable) }
        let binaryFolder = (executable as NSString).deletingLastPathComponent
        let installed = ((binaryFolder as NSString).deletingLastPathComponent as NSString)
            .appendingPathComponent("share/replayhost/www")
        if !FileManager.default.fileExists(atPath: installed), let checkout = StoreLocation.checkout(of: executable) {
            return checkout + "/www"
        }
        return installed
    }

    private static func absolute(_ path: String) -> String {
        URL(fileURLWithPath: path).path
    }
}
