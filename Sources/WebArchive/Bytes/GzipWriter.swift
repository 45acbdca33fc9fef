import CZlib

/// Compresses data into gzip members, one after the other. RFC 1952 §2.2.
///
/// Members have no time and no name, so that equal data gives equal bytes.
final class GzipWriter {
    private let stream: UnsafeMutablePointer<z_stream>
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    /// - Throws: `io` if memory runs out.
    init() throws(WebArchiveError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            throw WebArchiveError(
                code: .io, problem: "the data can't be compressed: zlib status \(status)", file: "gzip")
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
        buffer.deallocate()
    }

    /// Adds bytes to the current member.
    ///
    /// - Parameter write: Receives compressed bytes, which are valid only during the call.
    func add(
        _ bytes: UnsafeRawBufferPointer, _ write: (UnsafeRawBufferPointer) throws(WebArchiveError) -> Void
    ) throws(WebArchiveError) {
        var rest = bytes
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
            try compress(piece, Z_NO_FLUSH, write)
            rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
        }
    }

    /// Adds bytes to the current member.
    func add(
        _ bytes: [UInt8], _ write: (UnsafeRawBufferPointer) throws(WebArchiveError) -> Void
    ) throws(WebArchiveError) {
        try bytes.withUnsafeBufferPointer { bytes throws(WebArchiveError) in
            try add(UnsafeRawBufferPointer(bytes), write)
        }
    }

    /// Ends the current member. The next bytes begin another one.
    func end(_ write: (UnsafeRawBufferPointer) throws(WebArchiveError) -> Void) throws(WebArchiveError) {
        try compress(UnsafeRawBufferPointer(start: nil, count: 0), Z_FINISH, write)
        deflateReset(stream)
    }

    /// Compresses `bytes` into one gzip member.
    func member(_ bytes: [UInt8]) throws(WebArchiveError) -> [UInt8] {
        var member: [UInt8] = []
        try add(bytes) { member.append(contentsOf: $0) }
        try end { member.append(contentsOf: $0) }
        return member
    }

    private func compress(
        _ input: UnsafeRawBufferPointer, _ flush: Int32,
        _ write: (UnsafeRawBufferPointer) throws(WebArchiveError) -> Void
    ) throws(WebArchiveError) {
        let start = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.next_in = UnsafeMutablePointer(mutating: start)
        stream.pointee.avail_in = UInt32(input.count)
        repeat {
            stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(buffer.count)
            _ = deflate(stream, flush)
            let count = buffer.count - Int(stream.pointee.avail_out)
            if count > 0 { try write(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
        } while stream.pointee.avail_out == 0
    }
}
