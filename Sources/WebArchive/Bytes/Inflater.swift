import CZlib

/// Decompresses deflate data piece by piece, into buffers of any size.
public final class Inflater {
    /// The container of the deflate data.
    public enum Format: Sendable, Hashable {
        /// No container, as in a ZIP entry. RFC 1951.
        case rawDeflate
        /// One gzip member, whose CRC is checked. RFC 1952.
        case gzip
        /// A zlib stream, whose checksum is checked. RFC 1950.
        case zlib

        var windowBits: Int32 {
            switch self {
            case .rawDeflate: -MAX_WBITS
            case .gzip: MAX_WBITS + 16
            case .zlib: MAX_WBITS
            }
        }
    }

    /// The result of one call.
    public struct Step: Sendable, Hashable {
        /// The number of bytes consumed from the input.
        public let consumed: Int
        /// The number of bytes written to the output.
        public let produced: Int
        /// Whether the compressed data ends here. Any further input isn't part of it.
        public let isFinished: Bool
    }

    private let file: String
    private let stream: UnsafeMutablePointer<z_stream>

    /// Creates an inflater.
    ///
    /// - Parameter format: The container of the data.
    /// - Parameter file: The name shown in error messages.
    /// - Throws: `io` if memory runs out.
    public init(format: Format, file: String) throws(WebArchiveError) {
        self.file = file
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = inflateInit2_(stream, format.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            throw WebArchiveError(
                code: .io, problem: "the data can't be decompressed: zlib status \(status)", file: file)
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Starts again, with other data of the same format.
    func reset() { inflateReset(stream) }

    /// Decompresses from `input` into `output` until the input is used up, the output is full, or the data ends.
    ///
    /// - Parameter input: The next compressed bytes.
    /// - Parameter output: The buffer for the decompressed bytes.
    /// - Parameter offset: The byte offset of `input` in the file, for error messages.
    /// - Throws: `badGzip` if the data is damaged.
    public func inflate(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, offset: UInt64? = nil
    ) throws(WebArchiveError) -> Step {
        let inputCount = min(input.count, Int(UInt32.max))
        let outputCount = min(output.count, Int(UInt32.max))
        let source = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.next_in = UnsafeMutablePointer(mutating: source)
        stream.pointee.avail_in = UInt32(inputCount)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(outputCount)
        let status = CZlib.inflate(stream, Z_NO_FLUSH)
        let consumed = inputCount - Int(stream.pointee.avail_in)
        guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
            let detail = stream.pointee.msg.map { String(cString: $0) } ?? "zlib status \(status)"
            throw WebArchiveError(
                code: .badGzip, problem: "the compressed data is damaged: \(detail)", file: file,
                offset: offset.map { $0 + UInt64(consumed) })
        }
        return Step(
            consumed: consumed, produced: outputCount - Int(stream.pointee.avail_out),
            isFinished: status == Z_STREAM_END)
    }
}
