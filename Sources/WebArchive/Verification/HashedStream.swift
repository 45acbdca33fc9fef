import CZlib

/// A file in the package that is hashed, on a thread of its own, while it's read.
final class HashedStream: ByteStream {
    /// The CRC-32 and the hash of the bytes so far.
    struct Sums: Sendable {
        fileprivate var checksum: UInt = 0
        fileprivate var hash: DigestHasher?

        var crc: UInt32 { UInt32(truncatingIfNeeded: checksum) }
        var digest: WARCDigest? { hash?.digest }
    }

    var name: String { stream.name }
    private let stream: any ByteStream
    private let lane: Lane<Sums>
    private let step: (_ bytesRead: UInt64) throws(WebArchiveError) -> Void
    private var piece: [UInt8] = []
    private var bytesRead: UInt64 = 0

    /// - Parameter step: Called with the number of bytes read so far, after each piece; throws to stop.
    init(
        _ stream: any ByteStream, _ algorithm: WARCDigest.Algorithm?,
        step: @escaping (_ bytesRead: UInt64) throws(WebArchiveError) -> Void
    ) {
        self.stream = stream
        self.step = step
        lane = Lane(Sums(hash: algorithm.map { DigestHasher($0) }))
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        let count = try stream.read(into: buffer)
        piece.append(contentsOf: buffer[..<count])
        bytesRead += UInt64(count)
        if piece.count >= Self.pieceBytes { try hashPiece() }
        return count
    }

    /// Reads `count` bytes without using them.
    ///
    /// - Returns: `false` if there are fewer.
    func skip(_ count: UInt64) throws(WebArchiveError) -> Bool {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var left = count
        while left > 0 {
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: left)))
            let found = try read(into: part)
            guard found > 0 else { return false }
            left -= UInt64(found)
        }
        return true
    }

    /// Reads the rest, and returns the sums of the whole file.
    func finish() throws(WebArchiveError) -> Sums {
        _ = try skip(.max)
        try hashPiece()
        return try lane.result()
    }

    private func hashPiece() throws(WebArchiveError) {
        let piece = piece
        try lane.add { sums in
            piece.withUnsafeBytes { bytes in
                let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
                sums.checksum = CZlib.crc32(sums.checksum, start, UInt32(bytes.count))
                sums.hash?.update(bytes)
            }
        }
        self.piece = []
        self.piece.reserveCapacity(Self.pieceBytes + (256 << 10))
        try step(bytesRead)
    }

    private static let pieceBytes = 1 << 20
}
