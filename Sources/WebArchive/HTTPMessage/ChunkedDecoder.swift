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
        while true {
            switch state {
            case .start: state = try firstState()
            case .asIs: return try input.read(into: buffer)
            case .ended: return 0
            case .betweenChunks: state = try nextState()
            case .chunk(let remaining):
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: remaining)))
                let count = try input.read(into: part)
                isCutShort = count == 0
                state = count == 0 ? .ended : .chunk(remaining: remaining - UInt64(count))
                if count == remaining { state = .betweenChunks }
                return count
            }
        }
    }

    private func firstState() throws(WebArchiveError) -> State {
        let head = try input.peek(64)
        guard let (size, length) = Self.sizeLine(head), size <= bodyLength - min(bodyLength, UInt64(length)) else {
            return .asIs
        }
        input.consume(length)
        return size == 0 ? .ended : .chunk(remaining: size)
    }

    private func nextState() throws(WebArchiveError) -> State {
        var head = try input.peek(1024)
        let lineEnd = head.starts(with: [0x0D, 0x0A]) ? 2 : head.starts(with: [0x0A]) ? 1 : 0
        head.removeFirst(lineEnd)
        guard let (size, length) = Self.sizeLine(head) else {
            isCutShort = true
            return .ended
        }
        input.consume(lineEnd + length)
        return size == 0 ? .ended : .chunk(remaining: size)
    }

    /// Returns the chunk size at the start of `bytes` and the length of its line. Ignores extensions.
    private static func sizeLine(_ bytes: [UInt8]) -> (size: UInt64, length: Int)? {
        guard let stop = bytes.firstIndex(of: 0x0A) else { return nil }
        let digits = bytes[..<stop].prefix { Character(Unicode.Scalar($0)).isHexDigit }
        let rest = bytes[digits.count..<stop].drop { $0 == 0x20 || $0 == 0x09 }
        guard rest.first == nil || rest.first == 0x0D || rest.first == UInt8(ascii: ";") else { return nil }
        guard !digits.isEmpty, let size = UInt64(String(decoding: digits, as: UTF8.self), radix: 16) else { return nil }
        return (size, stop + 1)
    }
}
