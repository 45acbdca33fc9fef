/// What a verification read, and what it found.
package struct Verification: Sendable, Hashable, Codable {
    /// The result in one word.
    package enum Outcome: String, Sendable, Hashable, Codable {
        /// Everything that a digest protects was read and agrees, and a hash protects all WARC files.
        case verified
        /// Nothing shows damage, but not everything could be confirmed: a WARC file has no hash, a listed file is
        /// missing, or records don't match the digests that were written in them before the archive was packed.
        case incomplete
        /// Something was damaged or changed after the archive was packed, or can't be read or replayed.
        case failed
    }

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

    /// The result in one word.
    package internal(set) var outcome = Outcome.incomplete
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
    /// The revisits. Those that failed refer to a payload that isn't there.
    package internal(set) var revisits = Tally()
    /// The hash of `datapackage.json` as it is, `sha256:` and hexadecimal digits; `nil` without that file.
    package internal(set) var packageHash: String?

    /// The result for the contents alone, without the signature.
    package var contents: Outcome { outcome(of: contentsFindings) }

    var contentsFindings: [Finding] { findings.filter { !$0.code.hasPrefix("signature-") } }

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

    /// Adds findings, and concludes from all of them.
    package mutating func add(_ more: [Finding]) {
        findings = (findings + more).enumerated().sorted {
            ($1.element.severity, $0.element.code, $0.offset) < ($0.element.severity, $1.element.code, $1.offset)
        }.map(\.element)
        outcome = outcome(of: findings)
    }

    private func outcome(of findings: [Finding]) -> Outcome {
        if findings.contains(where: { $0.severity == .error }) { return .failed }
        let isComplete =
            warcFiles.checked > 0 && warcFiles.without == 0 && uncheckedFiles == 0 && records.failed == 0
        return isComplete ? .verified : .incomplete
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

/// What a verification asks about the archive.
package protocol VerificationLookups {
    /// Whether a page was captured.
    func isCaptured(_ page: Page) throws -> Bool
    /// Whether the payload of a revisit is in this archive, or in one that it requires.
    func isResolvable(_ revisit: CDXJEntry) throws -> Bool
}

/// Looks captures up in the file alone.
package struct FileLookups: VerificationLookups {
    private let wacz: WACZFile

    /// Creates lookups for a file.
    package init(_ wacz: WACZFile) {
        self.wacz = wacz
    }

    /// Whether a page was captured.
    package func isCaptured(_ page: Page) throws -> Bool {
        try wacz.closestCapture(toURL: page.url, at: page.captureTime) != nil
    }

    /// Whether the payload of a revisit is in the file.
    package func isResolvable(_ revisit: CDXJEntry) throws -> Bool {
        guard let record = try? wacz.record(of: revisit) else { return false }
        let digest = (record.payloadDigest ?? revisit.digest).flatMap { WARCDigest($0) }
        let time = record.refersToDate.flatMap { CaptureTimestamp(rfc3339: $0) } ?? revisit.captureTime
        return try wacz.closestCapture(toURL: record.refersToTargetURI ?? revisit.url, at: time) { original in
            !original.isRevisit && (digest == nil || original.digest.flatMap { WARCDigest($0) } == digest)
        } != nil
    }
}
