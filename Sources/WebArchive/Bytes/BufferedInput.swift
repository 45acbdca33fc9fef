/// A stream with a look-ahead buffer that tracks the offset of its next byte.
final class BufferedInput {
    private let stream: any ByteStream
    private let buffer: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0
    private var streamEnded = false

    /// The offset of the next unread byte, counted from the offset passed to `init`.
    private(set) var offset: UInt64

    var name: String { stream.name }

    init(_ stream: any ByteStream, offset: UInt64 = 0, capacity: Int = 64 << 10) {
        self.stream = stream
        self.offset = offset
        buffer = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// The bytes that have been read but not consumed. Valid until the next call of any method.
    var unread: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[start..<end]) }

    /// Reads more bytes after the unread ones.
    ///
    /// - Returns: `false` at the end of the stream, or when the buffer is full.
    func fill() throws(WebArchiveError) -> Bool {
        guard !streamEnded else { return false }
        if start > 0 {
            if end > start, let base = buffer.baseAddress {
                base.copyMemory(from: base + start, byteCount: end - start)
            }
            end -= start
            start = 0
        }
        guard end < buffer.count else { return false }
        let count = try stream.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[end...]))
        end += count
        streamEnded = count == 0
        return count > 0
    }

    /// The position of the first line feed among the unread bytes.
    var lineEnd: Int? { unread.lineEnd }

    /// Marks `count` of the unread bytes as read.
    func consume(_ count: Int) {
        start += count
        offset += UInt64(count)
    }

    /// Returns whether the stream is at its end.
    func isAtEnd() throws(WebArchiveError) -> Bool {
        if start < end { return false }
        return try !fill()
    }

    /// Returns the next `count` bytes without copying or consuming them; fewer only at the end. Valid until the next call of any
    /// method.
    func look(_ count: Int) throws(WebArchiveError) -> UnsafeRawBufferPointer {
        while end - start < count {
            if try !fill() { break }
        }
        return UnsafeRawBufferPointer(rebasing: unread.prefix(count))
    }

    /// Returns the next `count` bytes without consuming them; fewer only at the end.
    func peek(_ count: Int) throws(WebArchiveError) -> [UInt8] { [UInt8](try look(count)) }

    /// Reads bytes into `target` and returns their number; 0 only at the end.
    func read(into target: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        if try isAtEnd() { return 0 }
        let count = min(target.count, end - start)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<start + count]))
        consume(count)
        return count
    }

    /// Skips `count` bytes.
    ///
    /// - Parameter check: Counts a step for each piece that is read.
    /// - Returns: The number of bytes skipped; fewer than `count` only at the end.
    func skip(_ count: UInt64, _ check: CancellationCheck? = nil) throws(WebArchiveError) -> UInt64 {
        var skipped: UInt64 = 0
        while skipped < count {
            if try isAtEnd() { break }
            try check?.step()
            let step = Int(min(count - skipped, UInt64(end - start)))
            consume(step)
            skipped += UInt64(step)
        }
        return skipped
    }

    /// Skips CR and LF.
    ///
    /// - Returns: `false` at the end of the stream.
    func skipLineEnds() throws(WebArchiveError) -> Bool {
        while let byte = try look(1).first {
            guard byte == 0x0D || byte == 0x0A else { return true }
            consume(1)
        }
        return false
    }

    /// Reads one line and its line ending.
    ///
    /// - Returns: The line without LF or CRLF, or `nil` at the end. The last line may have no line ending.
    /// - Throws: `tooLarge` if the line is longer than `limit` bytes.
    func readLine(limit: Int) throws(WebArchiveError) -> [UInt8]? {
        var line: [UInt8] = []
        let lineOffset = offset
        while true {
            if try isAtEnd() { return offset == lineOffset ? nil : line }
            let bytes = unread
            let stop = lineEnd
            let length = stop ?? bytes.count
            guard line.count + length <= limit else {
                throw WebArchiveError(
                    code: .tooLarge, problem: "a line is longer than \(limit) bytes", file: name, offset: lineOffset)
            }
            line.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<length]))
            consume(stop == nil ? length : length + 1)
            if stop != nil {
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                return line
            }
        }
    }
}

/// The rest of a buffered input as a stream, or its next `length` bytes.
final class RestOfInput: ByteStream {
    var name: String { input.name }
    private let input: BufferedInput
    private var remaining: UInt64

    init(_ input: BufferedInput, length: UInt64 = .max) {
        self.input = input
        remaining = length
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        guard remaining > 0 else { return 0 }
        let count = try input.read(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: remaining))))
        remaining -= UInt64(count)
        return count
    }
}
