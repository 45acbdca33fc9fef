/// Bytes that are read once, from start to end. Use a stream from one thread at a time.
public protocol ByteStream: AnyObject {
    /// The name shown in error messages.
    var name: String { get }

    /// Reads the next bytes into `buffer`, which must not be empty.
    ///
    /// - Returns: The number of bytes read; 0 only at the end.
    /// - Throws: The error in the data at this point.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int
}

extension ByteStream {
    /// Reads the rest of the stream into memory.
    ///
    /// - Throws: `tooLarge` as soon as more than `limit` bytes have been read.
    public func readAll(limit: UInt64) throws(WebArchiveError) -> [UInt8] {
        try readAll(limit: limit, reserving: 0)
    }

    /// Reads the rest of the stream, with room for `expected` bytes reserved so that they're never copied.
    func readAll(limit: UInt64, reserving expected: UInt64) throws(WebArchiveError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)
        defer { buffer.deallocate() }
        var all: [UInt8] = []
        all.reserveCapacity(Int(clamping: min(limit, expected)))
        while true {
            let count = try read(into: buffer)
            if count == 0 { return all }
            guard UInt64(all.count + count) <= limit else {
                throw WebArchiveError(
                    code: .tooLarge, problem: "the data exceeds the limit of \(limit) bytes",
                    file: name)
            }
            all.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Calls `body` with each piece of the stream.
    func forEachPiece(
        _ body: (UnsafeRawBufferPointer) throws(WebArchiveError) -> Void
    ) throws(WebArchiveError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while case let count = try read(into: buffer), count > 0 {
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Calls `body` with each chunk of bytes until it returns `false`.
    ///
    /// - Parameter chunkBytesMax: The maximum size of a chunk. A chunk is valid only during the call.
    /// - Throws: What `body` and reading throw.
    package func forEachChunk(
        chunkBytesMax: Int = 256 << 10, _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, chunkBytesMax), alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try read(into: buffer)
            guard count > 0, try body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return }
        }
    }
}

/// The bytes of a source from an offset to its end, in order.
final class SourceStream: ByteStream {
    var name: String { source.name }
    private let source: any ByteSource
    private var offset: UInt64

    init(_ source: any ByteSource, offset: UInt64 = 0) {
        self.source = source
        self.offset = offset
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        let count = try source.read(at: offset, into: buffer)
        offset += UInt64(count)
        return count
    }
}

/// A stream that throws if a text inflates to more bytes or lines than its compressed size allows.
final class BoundedStream: ByteStream {
    var name: String { stream.name }
    private let stream: any ByteStream
    private let compressed: UInt64
    private let bytesMax: UInt64
    private let linesMax: UInt64
    private var total: UInt64 = 0
    private var lines: UInt64 = 0

    init(_ stream: any ByteStream, compressed: UInt64, limits: Limits) {
        self.stream = stream
        self.compressed = compressed
        bytesMax = limits.inflatedBytesMax(compressed: compressed)
        linesMax = limits.linesMax(compressed: compressed)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        let count = try stream.read(into: buffer)
        total += UInt64(count)
        guard total <= bytesMax else { throw tooLarge("more than \(ByteSize.text(bytesMax))") }
        lines += Self.lineEnds(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        guard lines <= linesMax else { throw tooLarge("more than \(linesMax) lines") }
        return count
    }

    private static func lineEnds(in bytes: UnsafeRawBufferPointer) -> UInt64 {
        var (lines, rest) = (UInt64(0), bytes)
        while let end = rest.lineEnd {
            lines += 1
            rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
        }
        return lines
    }

    private func tooLarge(_ size: String) -> WebArchiveError { .expanding(compressed, to: size, file: name) }
}
