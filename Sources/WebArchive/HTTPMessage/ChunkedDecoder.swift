/// Decodes a chunked body. RFC 9112 §7.1.
///
/// Many tools store decoded bodies but keep the `Transfer-Encoding` field. A body that doesn't start with a chunk is
/// returned unchanged.
final class ChunkedDecoder: ByteStream {
    private enum State: Equatable {
        case start
        case chunk(remaining: UInt64)
        case betweenChunks
        case asIs
        case ended
    }

    var name: String { input.name }
    /// Whether the body ended before the last, empty chunk.
    private(set) var isCutShort = false
    private let input: BufferedInput
    private let bodyLength: UInt64
    private var state = State.start

    /// - Parameter bodyLength: The number of bytes from the position of `input` to the end of the body.
    init(_ input: BufferedInput, bodyLength: UInt64) {
        self.input = input
        self.bodyLength = bodyLength
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        // Chunks may be tiny, so one call returns several. It ends before a read that may fail.
        var filled = 0
        while true {
            switch state {
            case .start: state = try firstState()
            case .asIs: return try input.read(into: buffer)
            case .ended: return filled
            case .betweenChunks:
                guard filled == 0 || input.unread.count >= Self.lineBytesMax else { return filled }
                state = try nextState()
            case .chunk(let remaining):
                guard filled < buffer.count, filled == 0 || !input.unread.isEmpty else { return filled }
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...].prefix(Int(clamping: remaining)))
                let count = try input.read(into: part)
                isCutShort = count == 0
                state = count == 0 ? .ended : .chunk(remaining: remaining - UInt64(count))
                if count == remaining { state = .betweenChunks }
                filled += count
            }
        }
    }

    private func firstState() throws(WebArchiveError) -> State {
        let head = try input.look(64)
        guard let (size, length) = Self.sizeLine(head), size <= bodyLength - min(bodyLength, UInt64(length)) else {
            return .asIs
        }
        input.consume(length)
        return size == 0 ? .ended : .chunk(remaining: size)
    }

    private func nextState() throws(WebArchiveError) -> State {
        let head = try input.look(Self.lineBytesMax)
        let lineEnd = head.first == 0x0A ? 1 : head.first == 0x0D && head.count > 1 && head[1] == 0x0A ? 2 : 0
        guard let (size, length) = Self.sizeLine(UnsafeRawBufferPointer(rebasing: head[lineEnd...])) else {
            isCutShort = true
            return .ended
        }
        input.consume(lineEnd + length)
        return size == 0 ? .ended : .chunk(remaining: size)
    }

    /// Returns the chunk size at the start of `bytes` and the length of its line. Ignores extensions.
    static func sizeLine(_ bytes: UnsafeRawBufferPointer) -> (size: UInt64, length: Int)? {
        guard let stop = bytes.firstIndex(of: 0x0A) else { return nil }
        var size: UInt64 = 0
        var digits = 0
        while digits < stop, let digit = bytes[digits].hexadecimalValue {
            guard size >> 60 == 0 else { return nil }
            size = size << 4 | UInt64(digit)
            digits += 1
        }
        let rest = bytes[digits..<stop].first { $0 != 0x20 && $0 != 0x09 }
        guard digits > 0, rest == nil || rest == 0x0D || rest == UInt8(ascii: ";") else { return nil }
        return (size, stop + 1)
    }

    /// The maximum size of the line with the size of a chunk, and of the line end before it.
    private static let lineBytesMax = 1024
}
