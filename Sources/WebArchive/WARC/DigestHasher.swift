import Crypto

/// Computes a digest of bytes that arrive in pieces.
struct DigestHasher: Sendable {
    private let algorithm: WARCDigest.Algorithm
    private var hash: any HashFunction & Sendable

    init(_ algorithm: WARCDigest.Algorithm) {
        self.algorithm = algorithm
        switch algorithm {
        case .md5: hash = Insecure.MD5()
        case .sha1: hash = Insecure.SHA1()
        case .sha256: hash = SHA256()
        case .sha512: hash = SHA512()
        }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

    /// The digest of the bytes so far.
    var digest: WARCDigest { WARCDigest(algorithm: algorithm, bytes: Array(hash.finalize())) }
}
