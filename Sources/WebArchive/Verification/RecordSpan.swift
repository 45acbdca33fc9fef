import Crypto

/// Consecutive records of a WARC file, as one sum that the index must have too.
///
/// Each capture adds a keyed hash of its place, URL and time. If the sum over the records equals that over the index
/// lines, both name the same captures: so a file with millions of records is compared in constant memory, in any order.
struct RecordSpan: Sendable, Hashable, Codable {
    /// The WARC file.
    let file: String
    /// The offset of the first record.
    let start: UInt64
    /// The offset after the last record.
    var end: UInt64
    /// The number of captures.
    var count = 0
    var sum: UInt64 = 0

    /// The maximum number of captures, so that a span in which both differ can be compared one by one.
    static let capturesMax = 1 << 16

    mutating func add(_ hash: UInt64) {
        count += 1
        sum &+= hash
    }

    func agrees(with other: RecordSpan) -> Bool { count == other.count && sum == other.sum }
}

/// Hashes captures with a secret key, so that no file can be made whose sums only happen to agree.
struct CaptureHasher: Sendable, Hashable, Codable {
    private let key: [UInt8]

    init() {
        var random = SystemRandomNumberGenerator()
        key = (0..<16).map { _ in random.next() }
    }

    func hash(
        file: String, offset: UInt64, length: UInt64?, url: String, time: CaptureTimestamp?, isRevisit: Bool
    ) -> UInt64 {
        hash("\(file) \(offset) \(length ?? 0) \(time?.digits14 ?? "") \(isRevisit) \(url)")
    }

    func hash(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { bytes in
            var hash = SHA256()
            hash.update(data: key)
            hash.update(bufferPointer: UnsafeRawBufferPointer(bytes))
            return hash.finalize().withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        }
    }
}

extension WARCScanner.Item {
    /// Whether the record is a capture that can be looked up.
    var isCapture: Bool { record.isCapture && record.targetURI != nil && record.timestamp != nil && hasShortURL }

    /// Whether the URL isn't longer than those that can be looked up.
    var hasShortURL: Bool { (record.targetURI?.utf8.count ?? 0) <= record.reader.limits.urlBytesMax }

    /// The length that an index gives: of the gzip member, or of the record with the two line ends after it.
    var indexedLength: UInt64 {
        record.isCompressed ? length : min(length + 4, record.reader.size - record.offset)
    }
}
