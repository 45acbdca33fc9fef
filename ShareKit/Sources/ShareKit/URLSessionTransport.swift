#if canImport(Security)
import Foundation
import Security

/// Sends requests with `URLSession`.
public struct URLSessionTransport: Transport {
    private let folder: ShareFolder

    /// - Parameter folder: Where the root certificates are kept.
    public init(folder: ShareFolder) { self.folder = folder }

    /// Sends a request. As in `Transport`.
    public func send(
        _ request: TransportRequest, to profile: ServerProfile
    ) async throws(ShareError) -> TransportAnswer {
        guard profile.scheme == .https, let fingerprint = profile.fingerprint else {
            return try await run(request, profile, .system)
        }
        let root = try await RootCertificates(folder: folder).root(fingerprint) { request throws(ShareError) in
            try await run(request, profile, .any)
        }
        return try await run(request, profile, .root(root))
    }

    private func run(
        _ request: TransportRequest, _ profile: ServerProfile, _ trust: PinningDelegate.Trust
    ) async throws(ShareError) -> TransportAnswer {
        guard let url = URL(string: profile.baseURL + request.path) else { throw ShareError(.invalidURL) }
        var query = URLRequest(url: url)
        (query.httpMethod, query.httpBody) = (request.method, request.body)
        for (name, value) in request.fields { query.setValue(value, forHTTPHeaderField: name) }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = Double(TransportLimits.secondsMax)
        let session = URLSession(configuration: configuration, delegate: PinningDelegate(trust), delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        do {
            let (bytes, response) = try await session.bytes(for: query)
            guard let head = response as? HTTPURLResponse else { throw ShareError(.foreign) }
            var body = Data()
            for try await byte in bytes {
                guard body.count < TransportLimits.bytesMax else { throw ShareError(.foreign) }
                body.append(byte)
            }
            return TransportAnswer(
                status: head.statusCode, retryAfter: head.value(forHTTPHeaderField: "Retry-After"), body: body)
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ error: any Error) -> ShareError {
        if let error = error as? ShareError { return error }
        switch (error as? URLError)?.code {
        case .timedOut: return ShareError(.timedOut)
        // The delegate cancels a connection that it doesn't trust.
        case .cancelled, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate,
            .serverCertificateNotYetValid:
            return ShareError(.untrusted)
        case .badServerResponse, .cannotParseResponse: return ShareError(.foreign)
        default: return ShareError(.unreachable, error.localizedDescription)
        }
    }
}

/// Decides which certificates a session trusts, and follows no redirects.
private final class PinningDelegate: NSObject, URLSessionTaskDelegate {
    enum Trust: Sendable {
        /// Those of the system.
        case system
        /// Those of one root, as DER.
        case root(Data)
        /// All. Only for the request for the root itself, which is compared with its fingerprint.
        case any
    }

    private let trust: Trust

    init(_ trust: Trust) { self.trust = trust }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            let server = challenge.protectionSpace.serverTrust
        else { return (.performDefaultHandling, nil) }
        switch trust {
        case .system: return (.performDefaultHandling, nil)
        case .any: return (.useCredential, URLCredential(trust: server))
        case .root(let root):
            guard let anchor = SecCertificateCreateWithData(nil, root as CFData),
                SecTrustSetAnchorCertificates(server, [anchor] as CFArray) == errSecSuccess,
                SecTrustSetAnchorCertificatesOnly(server, true) == errSecSuccess, SecTrustEvaluateWithError(server, nil)
            else { return (.cancelAuthenticationChallenge, nil) }
            return (.useCredential, URLCredential(trust: server))
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? { nil }
}
#endif
