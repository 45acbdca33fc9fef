extension Verification {
    /// What the result says about the contents, without the signature.
    package enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// The contents are as they were packed, and everything agrees.
        case undamaged
        /// The contents are as they were packed, but not everything could be checked.
        case incomplete
        /// The contents are as they were packed, but records don't match the digests written in them.
        case digestsDiffer
        /// The contents are as they were packed, but the ZIP is made in a way that can be an attack.
        case suspicious
        /// The contents are as they were packed, but some of them can't be replayed.
        case unreplayable
        /// The contents were damaged or changed after they were packed.
        case damaged
    }

    /// What the result says about the contents, without the signature.
    package var state: State {
        let findings = contentsFindings
        if findings.contains(where: { $0.severity == .error && Self.damageCodes.contains($0.code) }) { return .damaged }
        if contents == .failed { return .unreplayable }
        if findings.contains(where: { Self.suspiciousCodes.contains($0.code) }) { return .suspicious }
        if records.failed > 0 { return .digestsDiffer }
        return contents == .verified ? .undamaged : .incomplete
    }

    /// The codes of errors that show a change after the archive was packed.
    private static let damageCodes: Set = [
        "archive-unreadable", "block-digest", "crc-differs", "entry-damaged", "file-hash", "package-hash",
        "payload-digest", "resource-hash", "resource-missing",
    ]
    /// The codes of findings about a ZIP in which other programs may see other files.
    private static let suspiciousCodes: Set = ["zip-duplicate-name", "zip-readers-disagree", "zip-unsafe-name"]
}
