import CZlib

/// Inflates deflate data piece by piece, into buffers of the caller's size.
public final class Inflater {
    /// How the deflate data is wrapped.
    public enum Format: Sendable, Hashable {
        /// No wrapping, as in a ZIP entry. RFC 1951.
        case rawDeflate
        /// One gzip member, its CRC checked. RFC 1952.
        case gzip
        /// A zlib stream, its checksum checked. RFC 1950.
        case zlib

        var windowBits: Int32 {
            switch self {
            case .rawDeflate: -MAX_WBITS
            case .gzip: MAX_WBITS + 16
            case .zlib: MAX_WBITS
            }
        }
    }

    /// What one call did.
    public struct Step: Sendable, Hashable {
        /// Bytes taken from the input.
        public let consumed: Int
        /// Bytes written to the output.
        public let produced: Int
        /// Whether the data ended here; input after it belongs to something else.
        public let isFinished: Bool
    }

    private let file: String
    private let stream: UnsafeMutablePointer<z_stream>

    /// Gets ready to inflate.
    ///
    /// - Parameter format: How the data is wrapped.
    /// - Parameter file: The name to use in error texts.
    /// - Throws: `io` when there is no memory for the window.
    public init(format: Format, file: String) throws(WebArchiveError) {
        self.file = file
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = inflateInit2_(stream, format.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            throw WebArchiveError(code: .io, problem: "the data cannot be inflated: zlib status \(status)", file: file)
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Inflates from `input` into `output` until one of them is used up or the data ends.
    ///
    /// - Parameter input: What comes next of the compressed data.
    /// - Parameter output: Where what it holds is written to.
    /// - Parameter offset: Byte offset of `input` in the file, for error texts.
    /// - Throws: `badGzip` when the data is damaged.
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
                code: .badGzip, problem: "compressed data is damaged: \(detail)", file: file,
                offset: offset.map { $0 + UInt64(consumed) })
        }
        return Step(
            consumed: consumed, produced: outputCount - Int(stream.pointee.avail_out),
            isFinished: status == Z_STREAM_END)
    }
}
