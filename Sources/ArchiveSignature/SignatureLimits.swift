/// Limits on what a signature may contain, so that no file can use unbounded memory or time.
///
/// Real signatures have chains of two to four certificates with 1 to 2 kB each, and time stamps of 1 to 8 kB.
enum SignatureLimits {
    /// The maximum number of certificates in a chain.
    static let certificatesMax = 32
    /// The maximum size of a certificate.
    static let certificateBytesMax = 64 << 10
    /// The maximum size of a time stamp.
    static let timeStampBytesMax = 128 << 10
    /// The maximum size of a public key or a signature: RSA with 8,192 bits, and its encoding.
    static let keyBytesMax = 8192 / 8 + 64
    /// The maximum number of certificates from the signer's to the root.
    static let pathLengthMax = 10
    /// The maximum number of signatures to check in a search for a path to a root.
    static let pathChecksMax = 100
    /// The maximum number of comparisons of names with name constraints.
    static let nameComparisonsMax = 100_000
    /// The maximum number of trusted roots, and the maximum size of their file.
    static let rootsMax = 2000
    static let rootsBytesMax = 16 << 20
    /// The time between the claimed time and the time stamp, and by which the clock of this computer may be late.
    /// "WACZ Signing and Verification" 0.1.0, "Verification", step 7.
    static let toleranceSeconds: Double = 600
}
