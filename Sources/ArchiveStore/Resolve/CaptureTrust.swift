package import WebArchive

/// What is known of what is shown for a capture. All marks and results of captures are made of this value, and this value of what
/// was compared: the archives' files as they are now with their last verification, the WARC files with the signed lists of files, and the
/// line of the index with the record. `WACZFile.content` opens no record of another URL or time.
package struct CaptureTrust: Sendable, Hashable {
    /// The result that counts for the capture: the worst of its parts. `nil` if the archive's file isn't there.
    package let verification: VerificationCode?
    /// Whether the archive is signed, but its signature doesn't cover the record.
    package let isUncovered: Bool
    /// The archive that has the content, if it's another one.
    package let contentArchive: ArchiveID?
    /// What the record says, as far as the index says something else.
    package let recorded: Recorded?

    /// What a record says about its capture.
    package struct Recorded: Sendable, Hashable, Encodable {
        package var url: String?
        package var status: Int?
        package var mime: String?
    }
}

extension CaptureTrust: Encodable {
    private enum CodingKeys: String, CodingKey {
        case verification, uncovered, contentArchive, recorded
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(verification, forKey: .verification)
        if isUncovered { try container.encode(true, forKey: .uncovered) }
        try container.encodeIfPresent(contentArchive?.text, forKey: .contentArchive)
        try container.encodeIfPresent(recorded, forKey: .recorded)
    }
}

extension Resolver {
    /// Returns what is known of an open capture.
    package func trust(in capture: OpenCapture) -> CaptureTrust {
        let content = capture.payloadCapture.map(\.archive).flatMap { $0.key == capture.archive.key ? nil : $0 }
        // No signature and no list of files is about the content of two archives.
        let parts = content.map { [verification(of: $0) ?? .notVerified, .partly] } ?? []
        return CaptureTrust(
            verification: verification(of: capture.archive, with: parts, isUncovered: capture.isUncovered),
            isUncovered: capture.isUncovered, contentArchive: content?.id, recorded: capture.recorded)
    }

    /// Returns the result that counts for a capture: the worst of that of its archive, as its file is now, and of its parts.
    ///
    /// - Returns: `nil` if the archive's file isn't there.
    private func verification(
        of archive: Archive, with parts: [VerificationCode] = [], isUncovered: Bool = false
    ) -> VerificationCode? {
        let now = archive.observed(in: layout)
        return now.archive.verificationCode(now.availability).flatMap {
            VerificationCode.worst(of: [$0] + parts + (isUncovered ? [.uncovered] : []))
        }
    }

    /// Returns what is known of a capture that was found; `nil` if it can't be shown.
    ///
    /// - Parameter collection: The archives that replay together.
    func trust(in found: Found, collection: [Archive], _ check: CancellationCheck) throws -> CaptureTrust? {
        let (wacz, entry) = (found.index.wacz, found.entry)
        guard let warc = wacz.warcEntry(named: entry.filename) else { return nil }
        // In a file that the ZIP compresses, the record would have to be searched from the start.
        guard warc.method == .stored else {
            let isUncovered = wacz.isUncovered(entry)
            let parts: [VerificationCode] = entry.isRevisit ? [.partly] : []
            return CaptureTrust(
                verification: verification(of: found.index.archive, with: parts, isUncovered: isUncovered),
                isUncovered: isUncovered, contentArchive: nil, recorded: nil)
        }
        do {
            return trust(in: try open(entry, in: found.index, collection: collection, check))
        } catch let error as WebArchiveError where ![.io, .cancelled].contains(error.code) {
            return nil
        } catch let error as StoreError where error.code == .payloadMissing {
            return nil
        }
    }
}

extension OpenCapture {
    /// What the record says, as far as the index says something else; `nil` if they agree.
    fileprivate var recorded: CaptureTrust.Recorded? {
        var recorded = CaptureTrust.Recorded()
        if let recordURL, recordURL != entry.url, (entry.method ?? "GET") == "GET" { recorded.url = recordURL }
        if let status, let listed = entry.status, status != listed { recorded.status = status }
        // Revisits and unknown types are no statement about the content.
        let listed = entry.mime?.lowercased() ?? ""
        if let mime, listed.contains("/"), ![mime, "warc/revisit"].contains(listed) { recorded.mime = mime }
        return recorded == CaptureTrust.Recorded() ? nil : recorded
    }
}
