/// Collects the segments of records that are stored in several parts, perhaps in several files, and joins them.
///
/// Source: WARC 1.1 §7. The first segment has the type of the whole record, and the number 1. The others are `continuation`
/// records that name it. The last one gives the length of the whole block.
struct SegmentedRecords {
    /// A record in one of the files.
    private struct Segment {
        let reader: WARCReader
        let offset: UInt64
        let length: UInt64
        let contentLength: UInt64

        init(_ item: WARCScanner.Item, _ reader: WARCReader) {
            self.reader = reader
            (offset, length) = (item.record.offset, item.length)
            contentLength = item.record.contentLength
        }
    }

    private struct Place: Hashable {
        let filename: String
        let offset: UInt64
    }

    /// The parts of one record.
    private struct Parts {
        var segments: [UInt64: Segment] = [:]
        /// The number of segments, and the length of the whole block; `nil` without the last segment.
        var end: (count: UInt64, length: UInt64)?
        /// The index entry of the first segment.
        var entry: CDXJEntry?
        var request: Segment?
        /// The digests of the blocks of records that claim to be this one, joined. Anyone can write such a claim.
        var claims: [WARCDigest] = []

        /// The segments in order, if all are there and have the length that they should have.
        var whole: [Segment]? {
            guard let end, end.count == UInt64(segments.count) else { return nil }
            let ordered = segments.sorted { $0.key < $1.key }
            guard ordered.last?.key == end.count, ordered.first?.key == 1 else { return nil }
            let length = ordered.reduce(UInt64(0)) { $0.addingSaturated($1.value.contentLength) }
            return length == end.length ? ordered.map(\.value) : nil
        }
    }

    /// The field of a joined record that names the first segment, so that its parts aren't joined again.
    static let joinedField = "Replayhost-Joined-Segments-Of"
    /// Further segments aren't joined. Real files have few.
    private static let segmentsMax = 100_000
    private static let idBytesMax = 255

    private var parts: [String: Parts] = [:]
    private var ids: [Place: String] = [:]
    private var segmentCount = 0
    private var lastRequest: (url: String, segment: Segment)?
    private var lastFirst: (url: String, id: String)?

    /// Notes a record that was read.
    mutating func note(_ item: WARCScanner.Item, in reader: WARCReader, filename: String) {
        let record = item.record
        let url = record.targetURI ?? ""
        defer { if record.type != "request" { lastRequest = nil } }
        if record.type == "request" {
            let segment = Segment(item, reader)
            if let lastFirst, lastFirst.url == url { parts[lastFirst.id]?.request = segment }
            lastRequest = (url, segment)
            lastFirst = nil
            return
        }
        lastFirst = nil
        if let first = record.headers[Self.joinedField], first.utf8.count <= Self.idBytesMax,
            segmentCount < Self.segmentsMax
        {
            segmentCount += 1
            parts[first, default: Parts()].claims += record.blockDigest.flatMap { WARCDigest($0) }.map { [$0] } ?? []
        }
        guard let number = record.segmentNumber,
            let id = record.headers[number == 1 ? "WARC-Record-ID" : "WARC-Segment-Origin-ID"],
            id.utf8.count <= Self.idBytesMax, segmentCount < Self.segmentsMax,
            parts[id]?.segments[number] == nil
        else { return }
        segmentCount += 1
        parts[id, default: Parts()].segments[number] = Segment(item, reader)
        if let length = record.segmentTotalLength { parts[id]?.end = (number, length) }
        guard number == 1, record.isFirstSegment else { return }
        ids[Place(filename: filename, offset: record.offset)] = id
        parts[id]?.request = lastRequest.flatMap { $0.url == url ? $0.segment : nil }
        lastFirst = (url, id)
    }

    /// Keeps the index entry of a first segment until all files were read.
    ///
    /// - Returns: `false` for other entries.
    mutating func keep(_ entry: CDXJEntry) -> Bool {
        guard let id = ids[Place(filename: entry.filename, offset: entry.offset)] else { return false }
        parts[id]?.entry = entry
        return true
    }

    /// What became of the records that are stored in segments.
    struct Result {
        /// A WARC file with the joined records and their requests; `nil` if there are none.
        var file: (any ByteSource)?
        /// The entries of first segments that couldn't be joined.
        var entries: [CDXJEntry] = []
        /// What a verification shows again.
        var log: FindingLog
        /// What it doesn't.
        var sourceLog: FindingLog
    }

    /// Joins the records whose segments are all there.
    ///
    /// - Parameters:
    ///   - name: The name of the new file.
    ///   - progress: Called regularly; throws to stop.
    /// - Throws: What `progress` throws; `io`, `noSpace`.
    func joined(in folder: String, name: String, limits: Limits, progress: () throws -> Void) throws -> Result {
        let noFindings = FindingLog(perCodeMax: limits.findingsPerCodeMax)
        var result = Result(log: noFindings, sourceLog: noFindings)
        var output: (file: TemporaryFile, writer: WARCWriter)?
        for parts in parts.values.sorted(by: Self.precedes) {
            guard let entry = parts.entry else { continue }
            try progress()
            guard let whole = parts.whole else {
                result.entries.append(entry)
                Self.noteMissing(entry, parts, &result.log)
                continue
            }
            if output == nil {
                let file = try TemporaryFile(in: folder)
                output = (file, try WARCWriter(file.output))
            }
            guard let writer = output?.writer else { continue }
            do {
                let block = try Self.block(of: whole, in: folder)
                guard !parts.claims.contains(block.digest) else { continue }
                try Self.write(block, of: whole[0], parts.request, to: writer)
                result.sourceLog.add(
                    .notice, "warc-segments-joined",
                    "A capture is stored in \(whole.count) segments, which were joined: \(entry.url.prefix(300))",
                    at: "\(entry.filename) byte \(entry.offset)",
                    consequence: "Replay isn't affected. The joined record is in archive/\(name).")
            } catch let error as WebArchiveError where error.isDamage {
                result.entries.append(entry)
                Self.noteMissing(entry, parts, &result.log)
            }
        }
        result.file = try output?.file.finish(name: name)
        return result
    }

    private static func precedes(_ left: Parts, _ right: Parts) -> Bool {
        guard let one = left.entry, let other = right.entry else { return left.entry != nil && right.entry == nil }
        return one.filename == other.filename ? one.offset < other.offset : one.filename < other.filename
    }

    private static func noteMissing(_ entry: CDXJEntry, _ parts: Parts, _ log: inout FindingLog) {
        let count = parts.end.map { " of \($0.count) segments" } ?? " segment"
        log.add(
            .warning, "warc-segments-missing", "Only the first\(count) of a capture is shown: \(entry.url.prefix(300))",
            at: "\(entry.filename) byte \(entry.offset)",
            consequence: "The others are missing, or don't fit together. The end of this capture can't be replayed.",
            urls: [entry.url])
    }

    /// Returns the blocks of segments as one, and its SHA-256.
    private static func block(
        of segments: [Segment], in folder: String
    ) throws -> (bytes: any ByteSource, digest: WARCDigest) {
        let block = try TemporaryFile(in: folder)
        var hasher = DigestHasher(.sha256)
        for segment in segments {
            let record = try segment.reader.record(at: segment.offset, length: segment.length)
            try record.openBlock().forEachPiece { bytes throws(WebArchiveError) in
                hasher.update(bytes)
                try block.output.write(bytes)
            }
        }
        return (try block.finish(name: "segments"), hasher.digest)
    }

    private static func write(
        _ block: (bytes: any ByteSource, digest: WARCDigest), of segment: Segment, _ request: Segment?,
        to writer: WARCWriter
    ) throws {
        let first = try segment.reader.record(at: segment.offset, length: segment.length)
        try writer.write(header(of: first, length: block.bytes.size, digest: block.digest), SourceStream(block.bytes))
        guard let request else { return }
        let record = try request.reader.record(at: request.offset, length: request.length)
        let fields = record.headers.fields.map { ($0.name, $0.value) }
        try writer.write(WARCWriter.header(fields), record.openBlock())
    }

    /// Returns the header of a joined record: the fields of the first segment, with those that were only true of it replaced.
    private static func header(of first: WARCRecord, length: UInt64, digest: WARCDigest) -> [UInt8] {
        let replaced: Set = ["warc-record-id", "warc-segment-number", "warc-block-digest", "content-length"]
        let kept = first.headers.fields.filter { !replaced.contains($0.name.lowercased()) }.map { ($0.name, $0.value) }
        let origin = first.headers["WARC-Record-ID"] ?? ""
        let block = "sha256:\(digest.hex)"
        return WARCWriter.header(
            kept + [
                (joinedField, origin), ("WARC-Record-ID", WARCWriter.id([origin, block])),
                ("WARC-Block-Digest", block), ("Content-Length", "\(length)"),
            ])
    }
}

extension WACZWriter {
    /// Adds a file with the records that were stored in segments in the files so far.
    func addJoinedSegments() throws {
        let name = freeWARCName("segments.warc.gz")
        let result = try segments.joined(in: folder, name: name, limits: limits) {}
        segments = SegmentedRecords()
        for entry in result.entries { try add(entry) }
        log.add(result.log)
        sourceLog.add(result.sourceLog)
        guard let file = result.file else { return }
        try addWARC(file, name: name, detectsPages: false)
    }
}
