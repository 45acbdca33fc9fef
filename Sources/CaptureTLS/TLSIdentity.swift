import Crypto
package import Foundation
import NIOSSL
import SwiftASN1
import X509

/// A certificate with its private key, and the certificates above it.
package struct TLSIdentity: Sendable {
    /// The server's certificate first.
    let chain: [Certificate]
    let key: Certificate.PrivateKey

    /// The end of the server's certificate.
    package var endsAt: Date { chain[0].notValidAfter }

    /// - Parameter chain: Not empty.
    init(chain: [Certificate], key: Certificate.PrivateKey) {
        self.chain = chain
        self.key = key
    }

    /// Makes the settings for connections: TLS 1.2 or 1.3, encryption that notices changes (AEAD), HTTP/1.1 only.
    func makeContext() throws -> NIOSSLContext {
        let certificates = try chain.map {
            try NIOSSLCertificate(bytes: $0.derBytes(), format: .der)
        }
        let key = try NIOSSLPrivateKey(bytes: Array(key.serializeAsPEM().pemString.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = Self.cipherSuites
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    /// Of TLS 1.2; those of TLS 1.3 are fixed. RFC 9325 §4.2.
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]
}

extension Certificate {
    func derBytes() throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(self)
        return serializer.serializedBytes
    }

    func pem() throws -> String { try serializeAsPEM().pemString + "\n" }
}
