import ArchiveStore
package import CaptureAPI
import CaptureTLS
import EgressGuard
import Foundation
import Hummingbird
import Logging
import NIOCore
import ReplayServer
import Synchronization

/// The network side of the capture server: where it listens, who may use it, and how clients connect.
package final class ServerNetwork: Sendable {
    private struct NoCertificate: Error {}

    private struct State {
        var configuration = CaptureConfiguration()
        var own = OwnAddresses(addresses: [], names: [])
        var listeners: NetworkListeners?
        /// The certificate in use; `nil` before there is one.
        var tls: TLSContext?
        /// Why there is no HTTPS.
        var certificateFault: String?
    }
    private let state = Mutex(State())
    /// Where our own certificates are.
    private let folder: String
    let startedAt = QueueTime.text()
    let limits = ConnectionLimits()
    private let logger: Logger

    /// - Parameter folder: Where our own certificates are kept.
    init(certificatesIn folder: String, logger: Logger) {
        (self.folder, self.logger) = (folder, logger)
    }

    /// The one that is in force.
    var configuration: CaptureConfiguration { state.withLock { $0.configuration } }

    /// The addresses that other computers connect to.
    func addresses() async -> [String] {
        await state.withLock { $0.listeners }?.endpoints.map(\.description).sorted() ?? []
    }

    /// What doesn't work: ports that are taken, and certificates that can't be used.
    func faults() async -> [String] {
        let (listeners, fault, tls) = state.withLock { ($0.listeners, $0.certificateFault, $0.tls) }
        let warnings = tls?.warnings(now: Date()).map(\.description) ?? []
        return [fault].compactMap { $0 } + warnings + (await listeners?.failures.values.sorted() ?? [])
    }

    /// Begins to answer requests from the network.
    func start(
        _ respond: @escaping @Sendable (Request, ConnectionContext, CaptureRoutes.Arrival) async throws -> Response
    ) async {
        let listeners = NetworkListeners(
            limits: limits,
            encrypt: { [self] channel in
                guard let tls = state.withLock({ $0.tls }) else { throw NoCertificate() }
                try channel.pipeline.syncOperations.addHandler(tls.makeHandler(), position: .first)
            }, logger: logger
        ) { [self] request, context, endpoint in
            let (server, own) = state.withLock { ($0.configuration.server, $0.own) }
            return try await respond(request, context, .network(endpoint, server, own))
        }
        state.withLock { $0.listeners = listeners }
        await refresh()
    }

    func stop() async { await state.withLock { $0.listeners }?.stop() }

    /// Follows changes of this computer's addresses and of certificate files until the task is cancelled.
    func run() async {
        while (try? await Task.sleep(for: Self.interval)) != nil { await refresh() }
    }

    private static let interval = Duration.seconds(2)

    /// Applies another configuration: opens and closes listeners. Downloads go on.
    func apply(_ configuration: CaptureConfiguration) async {
        state.withLock { $0.configuration = configuration }
        await refresh()
    }

    private func refresh() async {
        let own = OwnAddresses.current()
        let (server, listeners) = state.withLock { state in
            state.own = own
            return (state.configuration.server, state.listeners)
        }
        var wanted = server.endpoints(own)
        if wanted.contains(where: \.isEncrypted) {
            let fault = await prepareCertificate(server, own)
            let isNew = state.withLock { state in
                defer { state.certificateFault = fault }
                return fault != nil && fault != state.certificateFault
            }
            if let fault, isNew { logger.error("\(fault)") }
            // With an older certificate that still works, HTTPS goes on.
            if state.withLock({ $0.tls == nil }) { wanted = wanted.filter { !$0.isEncrypted } }
        } else {
            state.withLock { $0.certificateFault = nil }
        }
        await listeners?.open(wanted)
    }

    /// Follows changes of names, addresses and certificate files.
    ///
    /// - Returns: Why there is no certificate, or why a new one can't be used; `nil` if all is well.
    private func prepareCertificate(_ server: CaptureConfiguration.Server, _ own: OwnAddresses) async -> String? {
        let names = ServerNames(
            hostName: own.hostName, names: server.names, addresses: server.addresses(own).map(\.description))
        let source: TLSContext.Source
        if let certificate = server.ssl.certificateFile, let key = server.ssl.keyFile {
            source = .files(CertificateFiles(certificatePath: certificate, keyPath: key))
        } else {
            source = .ownRoot(folder: folder, names: names)
        }
        let known = state.withLock { $0.tls }
        do {
            let result = try await BlockingWork().long {
                if let known { return (known, known.refresh(source, now: Date())) }
                return (try TLSContext(source, now: Date()), .replaced)
            }
            state.withLock { $0.tls = result.0 }
            switch result.1 {
            case .unchanged: return state.withLock { $0.certificateFault }
            case .replaced: return nil
            case .failed(let error): return error.description
            }
        } catch {
            return "\(error)"
        }
    }

    // How clients connect

    /// The root certificate, as PEM; `nil` without HTTPS or with a certificate of another authority.
    var rootCertificate: String? {
        configuration.server.encryptedPort == nil ? nil : state.withLock { $0.tls }?.rootPEM
    }

    /// - Parameter withKey: Whether the answer may contain the household's key.
    func connection(withKey: Bool) -> ConnectionInfo {
        let (configuration, own) = state.withLock { ($0.configuration, $0.own) }
        let server = configuration.server
        let isEncrypted = server.encryptedPort != nil
        let scheme = isEncrypted ? "https" : "http"
        let port = server.encryptedPort ?? server.port
        let lan = server.isLoopback ? nil : own.lan.map(\.hostText)
        return ConnectionInfo(
            serverName: server.name,
            lan: .init(ip: lan, url: lan.map { "\(scheme)://\($0):\(port)" }, available: lan != nil),
            wan: .init(
                ip: server.wan.map { String($0.prefix { $0 != ":" }) }, url: server.wan.map { "\(scheme)://\($0)" },
                available: server.wan != nil),
            port: port, protocol: scheme, sslEnabled: isEncrypted,
            apiKey: withKey ? configuration.security.apiKeys.first : nil, setupTimestamp: startedAt,
            fingerprint: isEncrypted ? state.withLock { $0.tls }?.fingerprint : nil)
    }

    /// Returns how clients would connect to a server with a configuration. Makes the certificate if there is none.
    package static func connection(
        _ configuration: CaptureConfiguration, certificatesIn folder: String
    ) async -> ConnectionInfo {
        let network = ServerNetwork(
            certificatesIn: folder, logger: Logger(label: "capture") { _ in SwiftLogNoOpLogHandler() })
        await network.apply(configuration)
        return network.connection(withKey: false)
    }
}
