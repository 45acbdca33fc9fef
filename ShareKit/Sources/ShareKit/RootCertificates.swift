import Foundation

/// The root certificates of servers, each in a file of the folder that is named for its fingerprint.
struct RootCertificates: Sendable {
    let folder: ShareFolder

    static func name(_ fingerprint: String) -> String { "root-\(fingerprint).pem" }

    /// Returns a root as DER. If it isn't there yet, the server is asked for it, and it must have the fingerprint.
    ///
    /// - Parameter fetch: Sends a request without checking the certificate. The request has no key and nothing that was shared.
    func root(
        _ fingerprint: String, fetch: (TransportRequest) async throws(ShareError) -> TransportAnswer
    ) async throws(ShareError) -> Data {
        let name = Self.name(fingerprint)
        if let pem = try folder.read(name), let root = Self.certificate(in: pem, fingerprint) { return root }
        let answer = try await fetch(TransportRequest(path: "/server.crt"))
        guard answer.status == 200, let root = Self.certificate(in: answer.body, fingerprint) else {
            throw ShareError(.untrusted, "its root isn't the one of the code")
        }
        try folder.withLock { () throws(ShareError) in
            try folder.write(Data(Fingerprint.pem(of: root).utf8), to: name)
        }
        return root
    }

    private static func certificate(in pem: Data, _ fingerprint: String) -> Data? {
        let certificate = Fingerprint.certificate(inPEM: String(decoding: pem, as: UTF8.self))
        return certificate.flatMap { Fingerprint.sha256($0) == fingerprint ? $0 : nil }
    }
}
