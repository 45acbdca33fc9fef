/// The signature in `datapackage-digest.json`, as written. "WACZ Signing and Verification" 0.1.0, "Signature Data Format".
///
/// It's only parsed: `SignatureVerifier` in the target ArchiveSignature checks it.
package struct SignedData: Sendable, Hashable {
    /// The hash of `datapackage.json` outside of the signature, as written.
    package let packageHash: String?
    /// The texts in `signedData`; `nil` if the package isn't signed.
    package let texts: [String: String]?
    /// The names of members in `signedData` that aren't texts. `null` counts as missing.
    package let otherMembers: [String]

    /// Parses `datapackage-digest.json`.
    ///
    /// - Throws: `tooLarge` or `badJSON`, also for a member that is there twice: other programs may take the other one.
    package init(parsing bytes: [UInt8], file: String, limits: Limits = .standard) throws(WebArchiveError) {
        guard UInt64(bytes.count) <= limits.digestBytesMax else {
            throw WebArchiveError(
                code: .tooLarge, problem: "the file has \(bytes.count) bytes, \(limits.digestBytesMax) are allowed",
                file: file)
        }
        var hash: String?
        var signature = Members(texts: nil)
        var names: Set<String> = []
        try JSONScanner.readDescription(bytes, file: file, limits: limits) { (scanner, key) throws(JSONProblem) in
            guard names.insert(key).inserted else { throw scanner.problem("a member is there twice") }
            switch key {
            case "hash": hash = try scanner.text(bytesMax: limits.textBytesMax)
            case "signedData": signature = try .read(&scanner)
            default: try scanner.skipValue()
            }
        }
        packageHash = hash
        texts = signature.texts
        otherMembers = signature.others
    }

    /// The members of `signedData`.
    private struct Members {
        /// The number of names to keep of members that aren't texts.
        static let othersMax = 16

        var texts: [String: String]?
        var others: [String] = []

        static func read(_ scanner: inout JSONScanner) throws(JSONProblem) -> Members {
            guard scanner.startsWith("{") else {
                let isNull = scanner.startsWith("n")
                try scanner.skipValue()
                return Members(texts: isNull ? nil : [:])
            }
            var texts: [String: String] = [:]
            var others: [String] = []
            var names: Set<String> = []
            try scanner.object { (scanner, name) throws(JSONProblem) in
                guard names.insert(name).inserted else { throw scanner.problem("a member is there twice") }
                if scanner.startsWith("\"") {
                    texts[name] = try scanner.string()
                } else {
                    if !scanner.startsWith("n"), others.count < Self.othersMax { others.append(name) }
                    try scanner.skipValue()
                }
            }
            return Members(texts: texts, others: others)
        }
    }
}
