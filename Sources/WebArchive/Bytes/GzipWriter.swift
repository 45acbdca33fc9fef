import CZlib

/// Compresses pieces of data, each into one gzip member. RFC 1952 §2.2.
///
/// Members have no time and no name, so that equal data gives equal bytes.
final class GzipWriter {
    private let stream: UnsafeMutablePointer<z_stream>

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
    }

    /// Compresses `bytes`, fewer than 2 GiB, into one gzip member.
    func member(_ bytes: [UInt8]) throws(WebArchiveError) -> [UInt8] {
        deflateReset(stream)
        let bound = Int(deflateBound(stream, UInt(bytes.count)))
        guard bytes.count <= Int(Int32.max), bound <= Int(UInt32.max) else {
            throw WebArchiveError(
                code: .tooLarge, problem: "a block of \(bytes.count) bytes is too large", file: "gzip")
        }
        let stream = stream
        return [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            bytes.withUnsafeBufferPointer { input in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.pointee.avail_in = UInt32(input.count)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(bound)
                _ = deflate(stream, Z_FINISH)
            }
            count = bound - Int(stream.pointee.avail_out)
        }
    }
}
