import WebArchive

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Verifies the signature of a WACZ offline. "WACZ Signing and Verification" 0.1.0, "Verification", from step 3.
///
/// Revocation isn't checked. The hashes of the package are checked by the caller (steps 1 and 2): compare
/// `SignatureReport.hash` with the SHA-256 of `datapackage.json`.
package struct SignatureVerifier: Sendable {
    static let file = "datapackage-digest.json"

    private let trust: TrustRoots?
    private let now: Date

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - trust: The roots for certificates of domains and for time stamps; `nil` for the system's, which are read when
    ///     there is a signature.
    ///   - now: The time after which a time stamp is from the future.
    package init(trust: TrustRoots?, now: Date = .now) {
        self.trust = trust
        self.now = now
    }

    /// Verifies the signature in `datapackage-digest.json`.
    ///
    /// - Parameter digestFile: The bytes of the file. Any bytes are allowed, and result in a report.
    package func verify(_ digestFile: [UInt8]) -> SignatureReport {
        var problems = SignatureProblems()
        let data: SignedData
        do throws(WebArchiveError) {
            data = try SignedData(parsing: digestFile, file: Self.file)
        } catch {
            let what = SignatureProblems.bounded(error.problem)
            problems.add(.unreadable, "file-unreadable", "The file can't be read: \(what).", at: "file", .unchecked)
            return SignatureReport(problems: problems, texts: [:])
        }
        guard let texts = data.texts else { return .unsigned }
        var check = SignatureCheck(texts: texts, trust: trust ?? .system(), now: now)
        check.checkMembers(data)
        return check.run()
    }
}

extension SignatureReport {
    /// The report for a package without a signature.
    fileprivate static let unsigned = SignatureReport(
        outcome: .unsigned, signer: nil, hash: nil, created: nil, software: nil, timeStamp: nil, crossSigning: nil,
        findings: [])

    init(
        problems: SignatureProblems, texts: [String: String], signer: Signer? = nil, timeStamp: TimeStamp? = nil,
        crossSigning: CrossSigning? = nil
    ) {
        self.init(
            outcome: problems.outcome, signer: signer, hash: texts["hash"].map(SignatureProblems.bounded),
            created: texts["created"].map(SignatureProblems.bounded),
            software: texts["software"].map(SignatureProblems.bounded), timeStamp: timeStamp,
            crossSigning: crossSigning, findings: problems.findings)
    }
}
