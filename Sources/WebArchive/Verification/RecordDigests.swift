/// Compares the blocks and payloads of WARC records with their digests, on a thread of its own.
///
/// WARC 1.1 §5.8 (`WARC-Block-Digest`) and §5.9 (`WARC-Payload-Digest`). The payload of an HTTP message is taken as
/// recorded, with its transfer coding: that is what writers hash.
final class RecordDigests: WARCBlockReceiver {
    /// A record that doesn't match a digest.
    struct Mismatch: Sendable, Hashable {
        enum Part: Sendable { case block, payload }
        let offset: UInt64
        let part: Part
        let expected: WARCDigest
    }

    /// What was compared.
    struct Results: Sendable {
        var withDigest = 0
        var withoutDigest = 0
        var mismatches: [Mismatch] = []
    }

    private let bytesMax: UInt64
    private let file: String
    private var bytesReceived: UInt64 = 0
    private let lane = Lane(Comparison())
    private var batch = Batch()
    private var headEnd: HTTPHeadEnd?
    private var recordsSinceResults = 0

    /// Whether results should be taken, which otherwise take memory for each record.
    var isFull: Bool { recordsSinceResults >= Self.recordsMax }

    /// - Parameter bytesMax: The maximum size of all blocks of the WARC file.
    init(bytesMax: UInt64, _ file: String) {
        (self.bytesMax, self.file) = (bytesMax, file)
    }

    func begin(_ record: WARCRecord) {
        let isHTTP = record.holdsHTTP && ["response", "request"].contains(record.type)
        headEnd = isHTTP ? HTTPHeadEnd() : nil
        // The payload of a revisit is in another record.
        let payload = record.isRevisit ? nil : record.payloadDigest.flatMap { WARCDigest($0) }
        batch.events.append(
            (batch.bytes.count, .begin(record.offset, record.blockDigest.flatMap { WARCDigest($0) }, payload)))
        if !isHTTP { batch.events.append((batch.bytes.count, .payload)) }
    }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(WebArchiveError) {
        bytesReceived += UInt64(bytes.count)
        guard bytesReceived <= bytesMax else {
            throw WebArchiveError(
                code: .tooLarge,
                problem: "the records expand to more than \(ByteSize.text(bytesMax)), far more than in real archives",
                file: file)
        }
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
    }

    private mutating func take(_ event: Batch.Event) {
        switch event {
        case .begin(let offset, let block, let payload):
            self.offset = offset
            self.block = block.map { Hashed($0) }
            self.payload = payload.map { Hashed($0) }
            isInPayload = false
        case .payload: isInPayload = true
        case .end:
            if block == nil, payload == nil { results.withoutDigest += 1 } else { results.withDigest += 1 }
            for (part, hashed) in [(RecordDigests.Mismatch.Part.block, block), (.payload, payload)] {
                guard let hashed, hashed.hasher.digest != hashed.expected else { continue }
                results.mismatches.append(.init(offset: offset, part: part, expected: hashed.expected))
            }
            (block, payload) = (nil, nil)
        }
    }
}
