/// Compares the blocks and payloads of WARC records with their digests, on a thread of its own.
///
/// WARC 1.1 §5.8 (`WARC-Block-Digest`) and §5.9 (`WARC-Payload-Digest`). The payload of an HTTP message is taken as
/// recorded, with its transfer coding: that is what most writers hash. `PayloadForm` has the other forms.
final class RecordDigests: WARCBlockReceiver {
    /// A record that doesn't match a digest.
    struct Mismatch: Sendable, Hashable {
        let offset: UInt64
        let isOfBlock: Bool
        /// The digest that the payload as recorded doesn't match; `nil` if it does.
        let payload: WARCDigest?
    }

    /// What was compared.
    struct Results: Sendable {
        var withDigest = 0
        var withoutDigest = 0
        /// The number of payloads with a transfer coding that match their digest as recorded.
        var encodedPayloads = 0
        var mismatches: [Mismatch] = []
    }

    private let lane = Lane(Comparison())
    private var batch = Batch()
    private var headEnd: HTTPHeadEnd?
    private var recordsSinceResults = 0

    /// Whether results should be taken, which otherwise take memory for each record.
    var isFull: Bool { recordsSinceResults >= Self.recordsMax }

    func begin(_ record: WARCRecord) {
        let isHTTP = record.holdsHTTP && ["response", "request"].contains(record.type)
        headEnd = isHTTP ? HTTPHeadEnd() : nil
        // The payload of a revisit is in another record, and that of a first segment goes on in others.
        let payload = record.isRevisit || record.isFirstSegment ? nil : record.payloadDigest.flatMap { WARCDigest($0) }
        batch.events.append(
            (batch.bytes.count, .begin(record.offset, record.blockDigest.flatMap { WARCDigest($0) }, payload)))
        if !isHTTP { batch.events.append((batch.bytes.count, .payload)) }
    }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(WebArchiveError) {
        if let end = headEnd?.find(in: bytes) {
            headEnd = nil
            batch.events.append((batch.bytes.count + end, .payload))
        }
        batch.bytes.append(contentsOf: bytes)
        if batch.bytes.count >= Self.batchBytes { try compareBatch() }
    }

    /// The record was read to its end.
    func end() throws(WebArchiveError) {
        batch.events.append((batch.bytes.count, .end))
        recordsSinceResults += 1
        if batch.events.count >= Self.batchEvents { try compareBatch() }
    }

    /// Waits until all is compared, and returns what was since the last call.
    func takeResults() throws(WebArchiveError) -> Results {
        try compareBatch()
        recordsSinceResults = 0
        var comparison = try lane.result()
        let results = comparison.results
        comparison.results = Results()
        try lane.restart(comparison)
        return results
    }

    private func compareBatch() throws(WebArchiveError) {
        guard !batch.events.isEmpty || !batch.bytes.isEmpty else { return }
        let batch = batch
        try lane.add { $0.take(batch) }
        self.batch = Batch()
        self.batch.bytes.reserveCapacity(Self.batchBytes + (64 << 10))
    }

    private static let batchBytes = 1 << 20
    private static let batchEvents = 10_000
    private static let recordsMax = 100_000
}

/// Bytes of blocks, and where in them records begin and end.
private struct Batch: Sendable {
    enum Event: Sendable {
        case begin(_ offset: UInt64, _ block: WARCDigest?, _ payload: WARCDigest?)
        case payload
        case end
    }

    var bytes: [UInt8] = []
    var events: [(position: Int, event: Event)] = []
}

/// The digests of the current record.
private struct Comparison: Sendable {
    private struct Hashed: Sendable {
        let expected: WARCDigest
        var hasher: DigestHasher

        init(_ expected: WARCDigest) {
            self.expected = expected
            hasher = DigestHasher(expected.algorithm)
        }
    }

    var results = RecordDigests.Results()
    private var offset: UInt64 = 0
    private var block: Hashed?
    private var payload: Hashed?
    private var isInPayload = false
    /// The start of the HTTP message, and the number of bytes of its head.
    private var start: [UInt8] = []
    private var headLength: Int?

    mutating func take(_ batch: Batch) {
        batch.bytes.withUnsafeBytes { bytes in
            var position = 0
            for (next, event) in batch.events {
                update(UnsafeRawBufferPointer(rebasing: bytes[position..<next]))
                position = next
                take(event)
            }
            update(UnsafeRawBufferPointer(rebasing: bytes[position...]))
        }
    }

    private mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        block?.hasher.update(bytes)
        if isInPayload { payload?.hasher.update(bytes) }
        guard payload != nil, start.count < headLength.map({ $0 + 64 }) ?? Self.headBytesMax else { return }
        start.append(contentsOf: bytes.prefix(isInPayload ? 64 : Self.headBytesMax - start.count))
    }

    /// Whether the payload has a transfer coding.
    private var isChunked: Bool {
        guard let headLength, headLength <= start.count, start[..<headLength].firstRange(ofBytes: Self.chunked) != nil
        else { return false }
        let input = BufferedInput(SourceStream(MemoryByteSource(start, name: "")), capacity: Self.headBytesMax)
        guard let head = try? HTTPMessageHead.read(from: input, limits: .standard), head.isChunked else { return false }
        return start[headLength...].withUnsafeBytes { ChunkedDecoder.sizeLine($0) != nil }
    }

    private static let headBytesMax = 64 << 10
    /// A part of the field's value that is the same in all common spellings.
    private static let chunked = Array("hunked".utf8)

    private mutating func take(_ event: Batch.Event) {
        switch event {
        case .begin(let offset, let block, let payload):
            self.offset = offset
            self.block = block.map { Hashed($0) }
            self.payload = payload.map { Hashed($0) }
            isInPayload = false
            headLength = nil
            start.removeAll(keepingCapacity: true)
        case .payload:
            isInPayload = true
            headLength = start.count
        case .end: endRecord()
        }
    }

    private mutating func endRecord() {
        if block == nil, payload == nil { results.withoutDigest += 1 } else { results.withDigest += 1 }
        let isOfBlock = block.map { $0.hasher.digest != $0.expected } ?? false
        let isOfPayload = payload.map { $0.hasher.digest != $0.expected } ?? false
        if payload != nil, !isOfPayload, isChunked { results.encodedPayloads += 1 }
        if isOfBlock || isOfPayload {
            results.mismatches.append(
                .init(offset: offset, isOfBlock: isOfBlock, payload: isOfPayload ? payload?.expected : nil))
        }
        (block, payload) = (nil, nil)
    }
}
