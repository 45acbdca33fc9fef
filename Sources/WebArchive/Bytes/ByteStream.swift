#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Bytes that are read once, from front to back. Not shared among threads.
public protocol ByteStream: AnyObject {
    /// The name to use in error texts.
    var name: String { get }

    /// Reads the next bytes into `buffer`, which must not be empty.
    ///
    /// - Returns: The bytes read, 0 only at the end.
    /// - Throws: Whatever is wrong with the data at this point.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int
}

extension ByteStream {
    /// Reads to the end, into memory.
    ///
    /// - Throws: `tooLarge` as soon as there are more than `limit` bytes.
    public func readAll(limit: UInt64) throws(WebArchiveError) -> [UInt8] {
        try readAll(limit: limit, reserving: 0)
    }

    /// The same, where `expected` bytes are likely: these are then never copied to make room for more.
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
                    code: .tooLarge, problem: "the data holds more than \(limit) bytes, the most that is read of it",
                    file: name)
            }
            all.append(contentsOf: buffer[..<count])
        }
    }

    /// Calls `body` with the bytes, piece by piece, until it returns `false`.
    ///
    /// - Parameter chunkBytesMax: Bytes of a piece, at most; a piece is valid only during the call.
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

/// Stops a text that inflates to more bytes, or more lines, than its compressed size can honestly hold.
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
        guard total <= bytesMax else { throw tooLarge("\(bytesMax) bytes") }
        lines += Self.lineEnds(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        guard lines <= linesMax else { throw tooLarge("\(linesMax) lines") }
        return count
    }

    private static func lineEnds(in bytes: UnsafeRawBufferPointer) -> UInt64 {
        guard let base = bytes.baseAddress else { return 0 }
        var (lines, offset) = (UInt64(0), 0)
        while let found = memchr(base + offset, 0x0A, bytes.count - offset) {
            lines += 1
            offset = UnsafeRawPointer(found) - base + 1
        }
        return lines
    }

    private func tooLarge(_ bound: String) -> WebArchiveError {
        WebArchiveError(
            code: .tooLarge,
            problem: "\(compressed) compressed bytes expand to more than \(bound), far more than in real archives",
            file: name)
    }
}
