extension ArchiveVerifier {
    /// Compares the index with the records that were read.
    func checkIndex() throws {
        var sums = now.spans.map { RecordSpan(file: $0.file, start: $0.start, end: $0.end) }
        let places = SpanPlaces(now.spans)
        let isRead = try forEachCapture { entry, location in
            now.result.captures.checked += 1
            if entry.needsOther { now.result.revisits.checked += 1 }
            guard let place = places.span(of: entry, in: wacz) else {
                now.result.captures.failed += 1
                // Lines that point outside all files are findings of the inspection.
                if wacz.warcEntry(named: entry.filename).map({ entry.offset < $0.uncompressedSize }) ?? false {
                    noteNoRecord(for: entry, at: location)
                }
                return
            }
            sums[place].add(
                now.hasher.hash(
                    file: now.spans[place].file, offset: entry.offset, length: entry.length, url: entry.url,
                    time: entry.captureTime, isRevisit: entry.isRevisit))
        }
        guard isRead else { return }
        let differing = now.spans.indices.filter { !now.spans[$0].agrees(with: sums[$0]) }
        for start in stride(from: 0, to: differing.count, by: Self.spansAtOnce) {
            try compareOneByOne(Set(differing[start...].prefix(Self.spansAtOnce)), places)
        }
        try checkRevisits()
    }

    /// Calls `body` with each line of the index.
    ///
    /// - Returns: `false` if the archive has no index.
    private func forEachCapture(_ body: (CDXJEntry, IndexLocation) throws -> Void) throws -> Bool {
        let reader = wacz.makeCaptureReader()
        var count = 0
        while let (entry, location) = try reader.next() {
            guard !reader.isReadingRecords else { return false }
            count += 1
            if count.isMultiple(of: 1024) { try step(wacz.size, nil) }
            try body(entry, location)
        }
        return true
    }

    private static let spansAtOnce = 8

    // Differences -------------------------------------------------------------------------------------------------

    /// Reads the records of some spans again, and compares each with the lines that point to it.
    private func compareOneByOne(_ spans: Set<Int>, _ places: SpanPlaces) throws {
        var records = try Dictionary(uniqueKeysWithValues: spans.map { ($0, try recordList(of: now.spans[$0])) })
        _ = try forEachCapture { entry, location in
            guard let place = places.span(of: entry, in: wacz), spans.contains(place) else { return }
            try compare(entry, at: location, with: &records[place, default: []])
        }
        for place in spans.sorted() {
            for record in records[place] ?? [] where record.isCapture && !record.isFirstSegment && !record.isIndexed {
                now.result.captures.without += 1
                let file = now.spans[place].file
                now.log.add("record-unindexed") {
                    let url = try? WARCReader(
                        entry: wacz.directory.entry(named: file) ?? wacz.warcEntries[0], of: wacz.directory,
                        wacz.allowance
                    ).record(at: record.offset).targetURI
                    return Finding(
                        severity: .warning, code: "record-unindexed",
                        what: "The index doesn't list a capture: \((url ?? "unknown URL").prefix(500))",
                        location: "\(file) byte \(record.offset)", consequence: "This capture can't be found.",
                        urls: url.map { [$0] } ?? [])
                }
            }
        }
    }

    /// A record as an index line must have it.
    private struct ListedRecord {
        let offset: UInt64
        let length: UInt64
        let url: UInt64
        let time: CaptureTimestamp?
        let isCapture: Bool
        let isRevisit: Bool
        let isFirstSegment: Bool
        var isIndexed = false
    }

    private func recordList(of span: RecordSpan) throws -> [ListedRecord] {
        guard let entry = wacz.directory.entry(named: span.file) else { return [] }
        let scanner = try WARCReader(entry: entry, of: wacz.directory, wacz.allowance).makeScanner(
            span.start..<span.end)
        var list: [ListedRecord] = []
        // If the rest of the file can't be read, that is a finding already.
        while let item = try readable(scanner.next()) {
            if list.count.isMultiple(of: 256) { try step(wacz.size, nil) }
            list.append(
                ListedRecord(
                    offset: item.record.offset, length: item.length,
                    url: urlHash(item.isCapture ? item.record.targetURI ?? "" : ""),
                    time: item.record.timestamp, isCapture: item.isCapture,
                    isRevisit: item.record.isRevisit, isFirstSegment: item.record.isFirstSegment))
        }
        return list
    }

    /// Returns a value; `nil` if what it's read from is damaged.
    func readable<Value>(_ value: @autoclosure () throws(WebArchiveError) -> Value?) throws -> Value? {
        do throws(WebArchiveError) {
            return try value()
        } catch {
            if error.code == .io { throw error }
            return nil
        }
    }

    /// The same for all spellings of a URL.
    private func urlHash(_ url: String) -> UInt64 { now.hasher.hash(SURT.key(for: url)) }

    private func compare(_ entry: CDXJEntry, at location: IndexLocation, with records: inout [ListedRecord]) throws {
        let place = records.partition({ $0.offset >= entry.offset })
        guard place < records.count, records[place].offset == entry.offset else {
            now.result.captures.failed += 1
            noteNoRecord(for: entry, at: location)
            return
        }
        records[place].isIndexed = true
        if records[place].isFirstSegment {
            now.log.add(
                .warning, "warc-segments-missing",
                "Only the first segment of a capture is shown: \(entry.url.prefix(300))", at: location.description,
                consequence: "The others aren't joined with it. The end of this capture can't be replayed.",
                urls: [entry.url])
        }
        let record = records[place]
        let isSameTime = record.time?.digits14 == entry.captureTime?.digits14
        if record.url != urlHash(entry.url) || !isSameTime {
            now.result.captures.failed += 1
            now.log.add("index-other-record") {
                let found = try? wacz.record(of: entry)
                let url = found?.targetURI
                return Finding(
                    severity: .error, code: "index-other-record",
                    what: "The index lists \(entry.url.prefix(300)) of \(entry.timestamp), but the record there is "
                        + "\((url ?? "unknown URL").prefix(300)) of \(found?.timestamp?.digits14 ?? "an unknown time").",
                    location: location.description,
                    consequence: "This capture can't be replayed.",
                    urls: [entry.url] + (url.map { $0 == entry.url ? [] : [$0] } ?? []))
            }
        } else if let length = entry.length, length < record.length {
            now.result.captures.failed += 1
            now.log.add(
                .error, "index-short-length",
                "The index gives \(length) bytes for a record that has \(record.length).", at: location.description,
                consequence: "Replay may show only a part of this capture.")
        } else if record.isRevisit, !entry.isRevisit {
            now.result.revisits.checked += 1
            try checkRevisit(entry, at: location)
        }
    }

    private func noteNoRecord(for entry: CDXJEntry, at location: IndexLocation) {
        if let warc = wacz.warcEntry(named: entry.filename),
            now.problems.takes(entry.url, offset: entry.offset, in: warc.name)
        {
            return
        }
        now.log.add(
            .error, "index-no-record",
            "The index points to a place where no readable record begins: \(entry.url.prefix(500))",
            at: location.description,
            consequence: "This capture can't be replayed, or what is shown for it is a part of another record.",
            urls: [entry.url])
    }

    // Revisits ----------------------------------------------------------------------------------------------------

    /// Checks that replay finds the payload of each revisit.
    private func checkRevisits() throws {
        guard now.result.revisits.checked > 0 else { return }
        _ = try forEachCapture { entry, location in
            if entry.needsOther { try checkRevisit(entry, at: location) }
        }
    }

    private func checkRevisit(_ entry: CDXJEntry, at location: IndexLocation) throws {
        do {
            guard let missing = try lookups.missingPayload(of: entry) else { return }
            now.result.revisits.failed += 1
            if missing.isBounded, now.result.missing?.count ?? 0 < Self.missingMax {
                now.result.missing = (now.result.missing ?? []) + [missing]
            }
            now.log.add(
                .warning, "revisit-unresolved",
                "\(entry.url.prefix(500)) is incomplete without \(missing.text). It isn't in this archive.",
                at: location.description,
                consequence: "This capture can be shown only in a collection with the archive that has the rest.",
                urls: [entry.url])
        } catch let error as WebArchiveError where ![.io, .cancelled].contains(error.code) {
            now.result.revisits.failed += 1
            // The record with the content may be an issue already, which then names this capture too.
            let file = error.file.replacing("\(wacz.name)/", with: "", maxReplacements: 1)
            if let offset = error.offset, now.problems.takes(entry.url, offset: offset, in: file) { return }
            now.log.add(
                .error, "revisit-unreadable",
                "The content of \(entry.url.prefix(500)) is stored with another capture, and can't be read: "
                    + "\(error.problem).",
                at: location.description, consequence: "This capture can't be replayed.", urls: [entry.url])
        }
    }

    private static let missingMax = 100
}

/// Finds the span of an index line.
private struct SpanPlaces {
    private var starts: [String: [(start: UInt64, place: Int)]] = [:]

    init(_ spans: [RecordSpan]) {
        for (place, span) in spans.enumerated() { starts[span.file, default: []].append((span.start, place)) }
    }

    func span(of entry: CDXJEntry, in wacz: WACZFile) -> Int? {
        guard let warc = wacz.warcEntry(named: entry.filename), let spans = starts[warc.name],
            entry.offset < warc.uncompressedSize
        else { return nil }
        return spans[spans.partition { $0.start > entry.offset } - 1].place
    }
}

extension RandomAccessCollection where Index == Int {
    /// Returns the first index whose element fulfils a condition that all later elements fulfil too.
    package func partition(_ isLater: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if isLater(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension CDXJEntry {
    /// Whether its content is that of another capture: it's a revisit or a captured 304.
    fileprivate var needsOther: Bool { isRevisit || status == 304 }
}
