package import ArchiveStore
package import Foundation
package import NIOSSL
import Synchronization

/// The certificate that the server uses now, and a handler for each new connection.
///
/// The certificate can be replaced while connections are open; they keep theirs.
package final class TLSContext: Sendable {
    /// Where the certificate comes from.
    package enum Source: Sendable, Hashable {
        /// Our own root in a folder, which signs a certificate for these names.
        case ownRoot(folder: String, names: ServerNames)
        case files(CertificateFiles)
    }

    /// The result of `refresh`.
    package enum Refresh: Sendable, Hashable {
        /// The certificate in use is still right.
        case unchanged
        /// New connections get another certificate.
        case replaced
        /// The new certificate can't be used, so new connections get the old one. Reported once for each change.
        case failed(StoreError)
    }

    private struct State {
        var source: Source
        var loaded: Loaded
        /// What was tried last, so that the same failure isn't reported again.
        var tried: Attempted
    }

    private struct Attempted: Equatable {
        let source: Source
        let stamp: String
        var failure: StoreError?
    }

    private let state: Mutex<State>

    /// - Throws: `StoreError` if there is no usable certificate.
    package init(_ source: Source, now: Date) throws {
        let stamp = Self.stamp(of: source)
        let loaded = try Loaded(source, previous: nil, now: now)
        state = Mutex(State(source: source, loaded: loaded, tried: Attempted(source: source, stamp: stamp)))
    }

    /// Makes the handler for a new connection; it goes first in the pipeline.
    package func makeHandler() -> NIOSSLServerHandler {
        NIOSSLServerHandler(context: state.withLock { $0.loaded.context })
    }

    /// SHA-256 of our root's certificate, for clients that pin it; `nil` with a certificate from files.
    package var fingerprint: String? { state.withLock { $0.loaded.authority?.fingerprint } }

    /// Our root's certificate in PEM format, for `/server.crt`; `nil` with a certificate from files.
    package var rootPEM: String? { state.withLock { $0.loaded.authority?.pem } }

    /// The end of the certificate in use.
    package var endsAt: Date { state.withLock { $0.loaded.identity.endsAt } }

    /// What a person should know about the certificate in use.
    package func warnings(now: Date) -> [CertificateWarning] {
        state.withLock { state in
            switch state.source {
            case .ownRoot(_, let names): state.loaded.authority?.warnings(for: names, now: now) ?? []
            case .files(let files): files.warnings(about: state.loaded.identity, now: now)
            }
        }
    }

    /// Uses another certificate if the source, its names or its files have changed, or if our own ends soon.
    ///
    /// Reads files only then, so it can be called every second.
    package func refresh(_ source: Source, now: Date) -> Refresh {
        state.withLock { state in
            let stamp = Self.stamp(of: source)
            let isTried = state.tried.source == source && state.tried.stamp == stamp
            if isTried, state.tried.failure == nil, state.loaded.isStillRight(for: source, now: now) {
                return .unchanged
            }
            do {
                state.loaded = try Loaded(source, previous: state.loaded, now: now)
                state.source = source
                state.tried = Attempted(source: source, stamp: stamp)
                return .replaced
            } catch {
                let failure = Self.storeError(error)
                defer { state.tried = Attempted(source: source, stamp: stamp, failure: failure) }
                return isTried && state.tried.failure == failure ? .unchanged : .failed(failure)
            }
        }
    }

    private static func stamp(of source: Source) -> String {
        switch source {
        case .ownRoot(let folder, _): folder
        case .files(let files): files.stamp
        }
    }

    private static func storeError(_ error: any Error) -> StoreError {
        error as? StoreError
            ?? StoreError(
                .failed, "the certificate can't be used (\(error))", hint: "check server.ssl, then start again")
    }

    /// A certificate, ready for connections.
    private struct Loaded: Sendable {
        let authority: CertificateAuthority?
        let identity: TLSIdentity
        let context: NIOSSLContext

        init(_ source: Source, previous: Loaded?, now: Date) throws {
            switch source {
            case .ownRoot(let folder, let names):
                // The root stays the same while the server runs, as clients trust it.
                let known = previous?.authority.flatMap { $0.folder == folder ? $0 : nil }
                let authority = try known ?? CertificateAuthority(folder: folder, names: names, now: now)
                self.authority = authority
                identity = try authority.identity(for: names, now: now)
            case .files(let files):
                authority = nil
                identity = try files.identity(now: now)
            }
            do {
                context = try identity.makeContext()
            } catch {
                throw StoreError(
                    .notPossible, "this certificate can't be used for TLS (\(error))",
                    hint: "check server.ssl.cert_file and key_file")
            }
        }

        func isStillRight(for source: Source, now: Date) -> Bool {
            guard case .ownRoot(_, let names) = source else { return true }
            return authority?.isUsable(identity, for: names, now: now) ?? false
        }
    }
}
