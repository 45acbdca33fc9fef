/// Makes findings of what a verification noted: one for each cause.
///
/// A changed byte in a file of the package shows in its CRC-32, its hash, a record and the index. All of that is one
/// finding about the file.
struct VerificationConclusion {
    private let problems: FileProblems
    private let names: [String]
    private let isOtherFile: Bool
    private var log: FindingLog
    /// The findings of the inspection and of the index.
    private var others: [Finding]

    /// - Parameters:
    ///   - names: The names of the files in the package, in the order of their bytes.
    ///   - isOtherFile: Whether the whole file isn't the one that was imported.
    init(_ progress: VerificationProgress, _ names: [String], isOtherFile: Bool) {
        (problems, self.isOtherFile) = (progress.problems, isOtherFile)
        var known: Set<String> = []
        self.names = names.filter { known.insert($0).inserted }
        log = FindingLog(perCodeMax: Limits.standard.findingsPerCodeMax)
        others = progress.inspected + progress.log.findings
    }

    /// Returns all findings.
    ///
    /// - Parameters:
    ///   - unhashed: The files whose hash `datapackage.json` doesn't list.
    ///   - name: The name of the whole file.
    mutating func findings(unhashed: Set<String>, name: String) -> [Finding] {
        correctSizes(unhashed)
        let changed = names.filter { problems.changes[$0] != nil && !isExplainedByDigestFile($0) }
        for file in changed { addChange(of: file) }
        for file in names where problems.changes[file] == nil {
            addRecords(of: file, isHashed: !unhashed.contains(file))
        }
        if isOtherFile, changed.isEmpty {
            log.add(
                .error, "file-hash", "The file isn't the one that was imported: its SHA-256 differs.", at: name,
                consequence: Self.changedSinceImport)
        }
        return others + log.findings
    }

    private static let changedSinceImport =
        "It was changed or damaged since the import. Import the original again, or restore a backup."

    // Files that were changed -------------------------------------------------------------------------------------

    /// Whether the hash of datapackage.json may be wrong only because the file with the hash was changed.
    private func isExplainedByDigestFile(_ file: String) -> Bool {
        guard file == Self.description, let change = problems.changes[file] else { return false }
        return !change.hasOtherCRC && change.unreadable == nil && problems.changes["datapackage-digest.json"] != nil
    }

    private static let description = "datapackage.json"

    private mutating func addChange(of file: String) {
        guard let change = problems.changes[file] else { return }
        let (code, what, consequence) = Self.texts(of: change, file)
        let lines = takeOthers { Self.lineCodes.contains($0.code) && $0.location.hasPrefix("\(file) line ") }
        let unlisted = file.contains("indexes/") ? takeUnlisted() : []
        let whole = takeOthers { Self.fileCodes.contains($0.code) && $0.location == file }
        let records = problems.records.filter { $0.file == file }
        let (urls, urlCount) = captures(in: records)
        let details =
            [recordText(records, in: file)] + whole.map(\.what)
            + lines.prefix(1).map { "For example, \($0.location.dropFirst(file.count + 1)): \($0.what)" }
            + unlisted.prefix(FileProblems.urlsMax).map(\.what)
        let place = records.first.map { "\(file) byte \($0.start)" } ?? lines.first?.location ?? file
        log.add(
            .error, code, ([what] + details.compactMap { $0 }).joined(separator: " "), at: place,
            consequence: isOtherFile ? Self.changedSinceImport : consequence,
            urls: urls + unlisted.compactMap { $0.urls?.first }.prefix(FileProblems.urlsMax),
            urlCount: urlCount + unlisted.count)
    }

    /// The codes of findings about lines and about whole files that a change of the file causes.
    private static let lineCodes: Set = [
        "index-bad-line", "index-incomplete-line", "index-line-too-long", "index-no-record", "index-not-utf8",
        "index-other-record", "index-outside-warc", "index-names-missing-warc", "index-short-length", "index-unsorted",
        "idx-bad-line", "idx-wrong-key", "idx-wrong-offset", "index-last-line-missing", "page-bad-line",
        "page-line-too-long",
    ]
    private static let fileCodes: Set = [
        "datapackage-damaged", "datapackage-not-json", "digest-damaged", "index-block-digest", "index-damaged",
        "pages-damaged", "resource-size-differs",
    ]

    private static func texts(
        of change: FileProblems.Change, _ file: String
    ) -> (code: String, what: String, consequence: String) {
        if let problem = change.unreadable {
            return (
                "entry-damaged", "A file in the package can't be read: \(problem).",
                "Its contents are lost from there on."
            )
        }
        let crc = change.hasOtherCRC ? ", nor its CRC-32 in the ZIP" : ""
        guard let hash = change.hash else {
            return (
                "crc-differs", "A file doesn't match its CRC-32 in the ZIP.",
                "It was damaged after the archive was packed, and may differ from what was captured."
            )
        }
        if file == description {
            return (
                "package-hash", "datapackage.json doesn't match its hash in datapackage-digest.json\(crc).",
                "The list of files and hashes was changed after the archive was packed or signed, or its hash was wrong from the start."
            )
        }
        return (
            "resource-hash", "A file doesn't match its hash (\(hash)) in datapackage.json\(crc).",
            "It was changed or damaged after the archive was packed, or its hash was wrong from the start."
        )
    }

    /// Describes the records of a changed file that can't be read or don't match their digests.
    private func recordText(_ records: [FileProblems.Record], in file: String) -> String? {
        let count =
            records.count + problems.moreUnreadable[file, default: 0] + problems.moreDiffering[file, default: 0]
        guard let first = records.first else { return nil }
        let names = captureText(records)
        if count > 1 { return "\(count) records in it can't be read, or don't match their digests\(names)" }
        return first.unreadable.map { "A WARC record in it can't be read (\($0))\(names)" }
            ?? "A WARC record in it doesn't match its digests\(names)"
    }

    /// Lists the URLs of the captures in records, as the end of a sentence.
    private func captureText(_ records: [FileProblems.Record]) -> String {
        let (urls, count) = captures(in: records)
        guard !urls.isEmpty else { return "." }
        let more = count - urls.count
        return ": \(urls.map { $0.prefix(300) }.joined(separator: " "))" + (more > 0 ? " and \(more) more" : "")
    }

    /// Returns the first URLs of the captures in records, and the number of captures.
    private func captures(in records: [FileProblems.Record]) -> (urls: [String], count: Int) {
        var urls: [String] = []
        for url in records.lazy.flatMap(\.urls) where !urls.contains(url) {
            urls.append(url)
            if urls.count == FileProblems.urlsMax { break }
        }
        return (urls, records.reduce(0) { $0 + max($1.lines, $1.urls.count) })
    }

    /// Removes the findings about captures that the index doesn't list, and about pages that are these captures.
    ///
    /// - Returns: Those about captures.
    private mutating func takeUnlisted() -> [Finding] {
        let unlisted = takeOthers { $0.code == "record-unindexed" }
        let urls = Set(unlisted.compactMap { $0.urls?.first })
        _ = takeOthers { finding in
            finding.code == "page-uncaptured" && finding.urls?.first.map(urls.contains) == true
        }
        return unlisted
    }

    /// Removes findings, and returns them.
    private mutating func takeOthers(_ isTaken: (Finding) -> Bool) -> [Finding] {
        defer { others.removeAll(where: isTaken) }
        return others.filter(isTaken)
    }

    // Files that are as they were packed --------------------------------------------------------------------------

    /// Adds the records of a file that wasn't changed, as far as its hash and its CRC-32 show.
    private mutating func addRecords(of file: String, isHashed: Bool) {
        // Then no part of the file is a record.
        guard !others.contains(where: { $0.code == "warc-is-zip" && $0.location == file }) else { return }
        for record in problems.records where record.file == file {
            let text = captureText([record])
            let (urls, count) = captures(in: [record])
            let place = "\(file) byte \(record.start)"
            if let problem = record.unreadable {
                log.add(
                    .error, "warc-damaged", "A WARC record can't be read: \(problem)\(text)", at: place,
                    consequence: "Its content can't be replayed, or only the part that can be read.", urls: urls,
                    urlCount: count)
            } else {
                log.add(mismatch(record, text, at: place, isHashed: isHashed))
            }
        }
        log.count("warc-damaged", more: problems.moreUnreadable[file, default: 0])
        log.count("payload-digest", more: problems.moreDiffering[file, default: 0])
    }

    private func mismatch(
        _ record: FileProblems.Record, _ text: String, at place: String, isHashed: Bool
    ) -> Finding {
        // The hash of a file proves nothing if the list of hashes was changed.
        let isAsPacked = problems.changes[Self.description] == nil
        let part =
            record.isOfBlock && record.isOfPayload
            ? "block and the payload of a WARC record don't match their digests"
            : "\(record.isOfBlock ? "block" : "payload") of a WARC record doesn't match its digest"
        return Finding(
            severity: isAsPacked ? .warning : .error, code: record.isOfBlock ? "block-digest" : "payload-digest",
            what: "The \(part)\(text)", location: place,
            consequence: !isAsPacked
                ? "The capture was changed or damaged after it was recorded."
                : isHashed
                    ? "The file is as it was packed: the record was changed before, or its digest was computed wrongly."
                    : "The record was changed or damaged after it was recorded, or its digest was computed wrongly.",
            urls: record.urls)
    }

    /// Corrects findings about sizes of files that match their hash.
    private mutating func correctSizes(_ unhashed: Set<String>) {
        others = others.map { finding in
            guard finding.code == "resource-size-differs", problems.changes[finding.location] == nil,
                !unhashed.contains(finding.location)
            else { return finding }
            return finding.with(
                severity: .notice,
                consequence: "Replay isn't affected: the file matches its hash, so the size was written wrongly.")
        }
    }
}
