import ArchiveSignature
import WebArchive

/// What was found in a file, and its signature.
struct CheckedArchive {
    private(set) var result: Verification
    private(set) var signature: SignatureReport?

    /// Reads the file, then checks its signature.
    init(_ verifier: ArchiveVerifier, _ wacz: WACZFile, _ trust: TrustRoots?) throws {
        result = try verifier.run()
        guard wacz.digest != nil, let bytes = try wacz.digestFile() else { return }
        let report = SignatureVerifier(trust: trust).verify(bytes)
        guard report.outcome != .unsigned else { return }
        let isOfThisFile = Self.isOfThisFile(report, result)
        signature = isOfThisFile ? report : report.ofOtherFile
        result.add(report.findings + (isOfThisFile ? [] : [Self.otherFile]))
    }

    /// Whether what was signed is the hash of the file's own list of files and hashes.
    private static func isOfThisFile(_ report: SignatureReport, _ result: Verification) -> Bool {
        guard let signed = report.hash.flatMap({ WARCDigest($0) }) else { return true }
        return result.packageHash.flatMap { WARCDigest($0) } == signed
    }

    private static let otherFile = Finding(
        severity: .error, code: "signature-other-file",
        what: "The signature isn't for this file's datapackage.json.",
        location: "datapackage-digest.json signedData.hash",
        consequence: "The signature proves nothing about this file.")

    /// Adds what is known about the archive and can't be found in its file.
    mutating func add(_ sourceFindings: [Finding]) { result.add(sourceFindings) }

    /// The result for a file that can't be opened as a WACZ.
    init(unreadable error: WebArchiveError) {
        result = Verification(unreadable: error)
    }
}

extension WACZFile {
    /// Returns the bytes of `datapackage-digest.json`; `nil` if there is none, or if it can't be read.
    fileprivate func digestFile() throws(WebArchiveError) -> [UInt8]? {
        guard let entry = directory.entry(named: "datapackage-digest.json") else { return nil }
        do throws(WebArchiveError) {
            return try directory.contents(of: entry, limit: Limits.standard.digestBytesMax)
        } catch  where error.code != .io {
            return nil
        }
    }
}
