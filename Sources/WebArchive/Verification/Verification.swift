/// What a verification read, and what it found.
package struct Verification: Sendable, Hashable, Codable {
    /// How many things were compared with their digest, and how many of them disagree.
    package struct Tally: Sendable, Hashable, Codable {
        package internal(set) var checked = 0
        package internal(set) var failed = 0
        /// The number of those without a digest.
        package internal(set) var without = 0

        mutating func count(hasDigest: Bool, agrees: Bool) {
            guard hasDigest else {
                without += 1
                return
            }
            checked += 1
            if !agrees { failed += 1 }
        }
    }

    /// What the payload digests that agree were computed of, where a body has a transfer or content coding.
    package struct PayloadDigests: Sendable, Hashable, Codable {
        /// The number of those of bodies as recorded, with their transfer coding.
        package internal(set) var withTransferCoding = 0
        /// The number of those of bodies without their transfer coding, as in WARC 1.1 §5.9.
        package internal(set) var withoutTransferCoding = 0
        /// The number of those of bodies without transfer and content coding.
        package internal(set) var decoded = 0
    }

    /// The findings, errors first.
    package internal(set) var findings: [Finding] = []
    /// The files in the package, with their hashes in `datapackage.json`.
    package internal(set) var files = Tally()
    /// The WARC files, with their hashes in `datapackage.json`.
    package internal(set) var warcFiles = Tally()
    /// The number of files that `datapackage.json` lists with a hash, but that are missing, or whose hash is unknown.
    package internal(set) var uncheckedFiles = 0
    /// `datapackage.json` itself, with its hash in `datapackage-digest.json`.
    package internal(set) var dataPackage = Tally()
    /// The WARC records, with the digests of their blocks and payloads.
    package internal(set) var records = Tally()
    /// The number of WARC records that can't be read, which aren't among `records`; `nil` in old reports.
    package internal(set) var unreadableRecords: Int? = 0
    /// What payload digests were computed of; `nil` in old reports.
    package internal(set) var payloadDigests: PayloadDigests? = PayloadDigests()
    /// The captures in the index, with the records they name. Those without are captures that the index doesn't list.
    package internal(set) var captures = Tally()
    /// The listed pages. Those that failed weren't captured.
    package internal(set) var pages = Tally()
    /// The revisits and captured 304s. Those that failed need a payload that isn't there.
    package internal(set) var revisits = Tally()
    /// Payloads that revisits refer to and that aren't there: the first few; `nil` if there are none.
    package internal(set) var missing: [MissingPayload]?
    /// The hash of `datapackage.json` as it is, `sha256:` and hexadecimal digits; `nil` without that file.
    package internal(set) var packageHash: String?

    /// What the contents show, without the signature.
    package var contents: VerificationCode { VerificationCode(contents: self) }

    /// Creates an empty result.
    package init() {}

    /// Creates the result for a file that can't be opened as a WACZ.
    package init(unreadable error: WebArchiveError) {
        var log = FindingLog(perCodeMax: 1)
        log.add(
            .error, "archive-unreadable", "The file can't be read as a WACZ: \(error.problem).", at: error.file,
            consequence: "Nothing in it can be replayed.")
        add(log.findings)
    }

    /// Adds findings.
    package mutating func add(_ more: [Finding]) {
        findings = (findings + more).enumerated().sorted {
            ($1.element.severity, $0.element.code, $0.offset) < ($0.element.severity, $1.element.code, $1.offset)
        }.map(\.element)
    }
}

/// How far a verification is. It can be stored, and continued by another process.
package struct VerificationProgress: Sendable, Hashable, Codable {
    enum Phase: String, Sendable, Codable { case files, index, pages }

    var phase = Phase.files
    /// The number of files in the ZIP that are done, in their order in the file.
    var entriesDone = 0
    /// The offset in the current WARC file up to which the records are done.
    var recordsEnd: UInt64 = 0
    var result = Verification()
    /// The findings of the inspection, which counts them itself.
    var inspected: [Finding] = []
    var log: FindingLog
    var problems = FileProblems()
    var spans: [RecordSpan] = []
    let hasher: CaptureHasher

    /// Creates the progress of a verification that hasn't begun.
    package init() {
        log = FindingLog(perCodeMax: Limits.standard.findingsPerCodeMax)
        hasher = CaptureHasher()
    }
}
