/// Reads a WACZ once, in the order of its bytes, and compares everything with its digests.
///
/// Hashing, decompressing and comparing overlap. Memory is bounded, and nothing is written.
package final class ArchiveVerifier {
    /// The number of bytes of the file that were read, and the progress if it can be stored at this point.
    package typealias Step = (_ bytesRead: UInt64, _ progress: VerificationProgress?) throws -> Void

    let wacz: WACZFile
    let lookups: any VerificationLookups
    let step: Step
    private let wholeFile: String?
    private let checkpointInterval: Duration
    var now: VerificationProgress
    /// All files in the ZIP, in the order of their bytes.
    private let entries: [ZIPEntry]
    private let hashes: [String: WARCDigest]
    private var clock = ContinuousClock.now
    /// What `step` threw while a stream was read, which only passes on errors of its own.
    private var stopError: (any Error)?

    /// - Parameters:
    ///   - progress: Where to continue; of a file with the same bytes.
    ///   - wholeFile: The SHA-256 of the file in hexadecimal digits, to be compared too; `nil` not to.
    ///   - checkpointInterval: The time between two states within a WARC file that can be stored.
    ///   - step: Called often; throws to stop.
    package init(
        _ wacz: WACZFile, continuing progress: VerificationProgress = VerificationProgress(),
        lookups: any VerificationLookups, wholeFile: String? = nil,
        checkpointInterval: Duration = .seconds(2), step: @escaping Step = { _, _ in }
    ) {
        (self.wacz, self.lookups, self.wholeFile, self.step) = (wacz, lookups, wholeFile, step)
        self.checkpointInterval = checkpointInterval
        now = progress
        entries = wacz.directory.entries.filter { !$0.isDirectory && !$0.isSymlink }
            .sorted { $0.localHeaderOffset < $1.localHeaderOffset }
        let listed = wacz.dataPackage?.resources ?? []
        hashes = Dictionary(listed.compactMap { item in item.hash.map { (item.path, $0) } }) { first, _ in first }
    }

    /// Reads the file.
    ///
    /// - Throws: What `step` and `lookups` throw; `io` if the file can't be read.
    package func run() throws -> Verification {
        let file = try wholeFile.map { try FileComparison(wacz.source, sha256: $0) }
        if now.phase == .files {
            if now.entriesDone == 0, now.recordsEnd == 0 { try inspect() }
            while now.entriesDone < entries.count { try checkNextEntry() }
            now.phase = .index
            try report()
        }
        if now.phase == .index {
            try checkIndex()
            now.phase = .pages
            try report()
        }
        try checkPages()
        let isOtherFile = try file.map { try !$0.agrees() } ?? false
        var result = now.result
        let unhashed = entries.filter { hashes[$0.name] == nil }.map(\.name)
        var conclusion = VerificationConclusion(now, entries.map(\.name), isOtherFile: isOtherFile)
        result.add(conclusion.findings(unhashed: Set(unhashed), name: wacz.name))
        return result
    }

    /// Reports progress that can be stored.
    private func report() throws {
        clock = .now
        let bytes = now.entriesDone < entries.count ? entries[now.entriesDone].localHeaderOffset : wacz.size
        try step(min(bytes + now.recordsEnd, wacz.size), now)
    }

    private func inspect() throws {
        let inspection = try wacz.inspect { [step] _, _ in try step(0, nil) }
        // The records of an archive without an index have been inspected too. They're all read again.
        now.inspected = inspection.findings.filter { $0.code != "warc-damaged" }
        try wacz.directory.compareLocalHeaders(&now.log)
        now.result.uncheckedFiles = (wacz.dataPackage?.resources ?? []).count { resource in
            resource.unknownHash != nil || resource.hash != nil && wacz.directory.entry(named: resource.path) == nil
        }
        if wacz.directory.entry(named: "datapackage.json") != nil, wacz.digest?.hash == nil {
            now.log.add(
                .notice, "package-hash-missing", "Nothing protects datapackage.json, which lists the hashes.",
                at: "datapackage-digest.json",
                consequence: "Replay isn't affected, but a person who changes a file can also change its hash.")
        }
    }

    // Files -------------------------------------------------------------------------------------------------------

    private func checkNextEntry() throws {
        let entry = entries[now.entriesDone]
        let expected = entry.isDescription ? wacz.digest?.hash.flatMap { WARCDigest($0) } : hashes[entry.name]
        do {
            let stream = HashedStream(
                try wacz.directory.stream(of: entry, wacz.allowance),
                expected?.algorithm ?? (entry.isDescription ? .sha256 : nil)
            ) { [unowned self] count throws(WebArchiveError) in
                // A compressed file has more bytes than its part of the ZIP.
                try stopping { try self.step(entry.localHeaderOffset + min(count, entry.compressedSize), nil) }
            }
            if wacz.warcEntries.contains(entry) { try readRecords(of: entry, from: stream) }
            compare(entry, try stream.finish(), expected)
        } catch {
            if let stopError { throw stopError }
            guard let error = error as? WebArchiveError, error.code != .io else { throw error }
            count(entry, expected, agrees: false)
            now.problems.change(entry.name) { $0.unreadable = error.problem }
            if wacz.warcEntries.contains(entry), now.problems.records.last?.end != .max {
                let start = now.spans.last.flatMap { $0.file == entry.name ? $0.end : nil } ?? 0
                noteUnreadable(DamagedStretch(start: start, problem: error.problem, url: nil), in: entry)
            }
        }
        now.entriesDone += 1
        now.recordsEnd = 0
        try report()
    }

    private func stopping(_ body: () throws -> Void) throws(WebArchiveError) {
        do {
            try body()
        } catch {
            stopError = error
            throw WebArchiveError(code: .cancelled, problem: "stopped", file: wacz.name)
        }
    }

    private func compare(_ entry: ZIPEntry, _ found: HashedStream.Sums, _ expected: WARCDigest?) {
        if found.crc != entry.crc32 { now.problems.change(entry.name) { $0.hasOtherCRC = true } }
        if entry.isDescription { now.result.packageHash = found.digest.map { "\($0.algorithm):\($0.hex)" } }
        let agrees = expected == nil || found.digest == expected
        count(entry, expected, agrees: agrees)
        guard !agrees, let expected else { return }
        now.problems.change(entry.name) { $0.hash = expected.algorithm.name }
    }

    private func count(_ entry: ZIPEntry, _ expected: WARCDigest?, agrees: Bool) {
        if entry.isDescription {
            now.result.dataPackage.count(hasDigest: expected != nil, agrees: agrees)
        } else if entry.name != "datapackage-digest.json" {
            now.result.files.count(hasDigest: expected != nil, agrees: agrees)
            guard wacz.warcEntries.contains(entry) else { return }
            now.result.warcFiles.count(hasDigest: expected != nil, agrees: agrees)
        }
    }

    // Records -----------------------------------------------------------------------------------------------------

    private func readRecords(of entry: ZIPEntry, from stream: HashedStream) throws {
        guard try stream.skip(now.recordsEnd) else { return }
        let reader = try WARCReader(entry: entry, of: wacz.directory, wacz.allowance)
        let forms = PayloadFormFinder(reader: reader)
        let digests = RecordDigests()
        let scanner = WARCScanner(reader, BufferedInput(stream, offset: now.recordsEnd), receiver: digests)
        do {
            while let item = try scanner.next() {
                try digests.end()
                add(item, of: entry)
                guard digests.isFull || clock.duration(to: .now) >= checkpointInterval else { continue }
                try addResults(entry, scanner, digests, forms)
                now.recordsEnd = scanner.offset
                try report()
            }
        } catch {
            // The rest can't be read. What was read counts.
            if stopError == nil, error is WebArchiveError { try addResults(entry, scanner, digests, forms) }
            throw error
        }
        try addResults(entry, scanner, digests, forms)
        endSpan(of: entry)
    }

    /// Adds a record to its span.
    private func add(_ item: WARCScanner.Item, of entry: ZIPEntry) {
        let (start, end) = (item.record.offset, item.record.offset + item.length)
        let last = now.spans.indices.last
        let isFull =
            last.map { now.spans[$0].file != entry.name || now.spans[$0].count >= RecordSpan.capturesMax } ?? true
        if isFull {
            let isFirst = last.map { now.spans[$0].file != entry.name } ?? true
            now.spans.append(RecordSpan(file: entry.name, start: isFirst ? 0 : start, end: end))
        }
        // A first segment is listed only if its record couldn't be joined. Then its lines are compared one by one.
        guard item.isCapture, !item.record.isFirstSegment, let url = item.record.targetURI else { return }
        now.spans[now.spans.count - 1].add(
            now.hasher.hash(
                file: entry.name, offset: start, length: item.indexedLength, url: url, time: item.record.timestamp,
                isRevisit: item.record.isRevisit))
    }

    private func endSpan(of entry: ZIPEntry) {
        guard let last = now.spans.last, last.file == entry.name else {
            now.spans.append(RecordSpan(file: entry.name, start: 0, end: entry.uncompressedSize))
            return
        }
        now.spans[now.spans.count - 1].end = entry.uncompressedSize
    }

    /// Waits for the comparison of the records so far, and adds the results.
    private func addResults(
        _ entry: ZIPEntry, _ scanner: WARCScanner, _ digests: RecordDigests, _ forms: PayloadFormFinder
    ) throws {
        // Damaged parts are reported with their cause.
        let findings = scanner.takeFindings().without("warc-damaged")
        now.log.add(findings.located { $0.replacing("\(wacz.name)/", with: "", maxReplacements: 1) })
        let damage = scanner.takeDamage()
        for part in damage.kept { noteUnreadable(part, in: entry) }
        now.result.unreadableRecords? += damage.count - damage.kept.count
        now.problems.addUnreadable(damage.count - damage.kept.count, in: entry.name)
        let results = try digests.takeResults()
        now.result.records.checked += results.withDigest
        now.result.records.without += results.withoutDigest
        now.result.payloadDigests?.withTransferCoding += results.encodedPayloads
        for mismatch in results.mismatches { try note(mismatch, in: entry, forms) }
    }

    private func noteUnreadable(_ part: DamagedStretch, in entry: ZIPEntry) {
        now.result.unreadableRecords? += 1
        now.problems.add(FileProblems.Record(part, in: entry.name))
    }

    /// Adds a record that doesn't match a digest, unless the digest is of another form of its payload.
    private func note(
        _ mismatch: RecordDigests.Mismatch, in entry: ZIPEntry, _ forms: PayloadFormFinder
    ) throws {
        var isOfPayload = mismatch.payload != nil
        // In a file that the ZIP compresses, each record would have to be searched from the start.
        if let payload = mismatch.payload, entry.method == .stored {
            let bytesRead = entry.localHeaderOffset + min(mismatch.offset, entry.compressedSize)
            let form = try forms.form(of: mismatch.offset, matching: payload) { try step(bytesRead, nil) }
            switch form {
            case .withoutTransferCoding: now.result.payloadDigests?.withoutTransferCoding += 1
            case .decoded: now.result.payloadDigests?.decoded += 1
            case nil: break
            }
            isOfPayload = form == nil
        }
        guard isOfPayload || mismatch.isOfBlock else { return }
        now.result.records.failed += 1
        var record = FileProblems.Record(
            file: entry.name, start: mismatch.offset, isOfBlock: mismatch.isOfBlock, isOfPayload: isOfPayload)
        if now.problems.records.count < FileProblems.recordsMax, let url = try url(at: mismatch.offset, of: entry) {
            record.urls = [FileProblems.bounded(url)]
        }
        now.problems.add(record)
    }

    /// Returns the URL of a record; `nil` if it has none, or can't be read.
    private func url(at offset: UInt64, of entry: ZIPEntry) throws -> String? {
        try readable(WARCReader(entry: entry, of: wacz.directory, wacz.allowance).record(at: offset).targetURI)
    }

    // Pages -------------------------------------------------------------------------------------------------------

    /// Whether a page is captured; `nil` if the verification has used up what it may cost.
    private func isCaptured(_ page: Page) throws -> Bool? {
        do {
            return try lookups.isCaptured(page)
        } catch let error as WebArchiveError where error.code == .tooCostly {
            now.result.pages.count(hasDigest: false, agrees: true)
            return nil
        }
    }

    private func checkPages() throws {
        let reader = wacz.makePageReader()
        while let page = try reader.next() {
            try step(wacz.size, nil)
            guard let isCaptured = try isCaptured(page) else { continue }
            now.result.pages.count(hasDigest: true, agrees: isCaptured)
            guard !isCaptured else { continue }
            now.log.add(
                .warning, "page-uncaptured", "A page of the page list isn't in the index: \(page.url.prefix(500))",
                at: page.list == .pages ? "pages/pages.jsonl" : "pages/extraPages.jsonl",
                consequence: "This page can't be opened.", urls: [page.url])
        }
    }
}

extension ZIPEntry {
    fileprivate var isDescription: Bool { name == "datapackage.json" }
}
