/// Decodes a content coding piece by piece, in constant memory.
///
/// Some tools store decoded bodies but keep the `Content-Encoding` field. A body that doesn't begin like its coding is
/// returned unchanged.
public final class ContentDecoder: ByteStream {
    private enum State {
        case unopened
        case decoding(any ByteStream)
        case asIs
    }

    /// The name shown in error messages.
    public var name: String { input.name }
    private let input: BufferedInput
    private let coding: ContentCoding
    private let allowance: Allowance
    private var state = State.unopened

    /// Creates a decoder for `stream`, which isn't read before the first call of `read`.
    ///
    /// - Parameter allowance: Charged with what is decoded.
    public init(_ stream: any ByteStream, coding: ContentCoding, _ allowance: Allowance) {
        input = BufferedInput(stream)
        (self.coding, self.allowance) = (coding, allowance)
    }

    /// Returns a stream that decodes several codings, given in the order in which they were applied.
    ///
    /// - Parameter allowance: Charged with what each of them decodes.
    public static func decode(
        _ stream: any ByteStream, _ codings: [ContentCoding], _ allowance: Allowance
    ) -> any ByteStream {
        codings.reversed().reduce(stream) { ContentDecoder($0, coding: $1, allowance) }
    }

    /// Returns whether the data begins like its coding. Otherwise, `read` returns it unchanged.
    ///
    /// - Throws: `truncated` if there are too few bytes to tell; `unsupported`; the errors of the stream.
    func isEncoded() throws(WebArchiveError) -> Bool {
        if case .unopened = state { state = try open() }
        if case .asIs = state { return false }
        return true
    }

    /// Returns at most `count` decoded bytes, up to the end of the data or the first damage.
    func decodedStart(_ count: Int) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let found = buffer.withUnsafeMutableBytes { bytes in
                (try? read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[filled...]))) ?? 0
            }
            if found == 0 { break }
            filled += found
        }
        return Array(buffer[..<filled])
    }

    /// Reads the next decoded bytes. Returns 0 only at the end.
    ///
    /// - Throws: `badEncoding` if the data is damaged; `truncated` if it ends early; `unsupported` if this build can't
    ///   decode the coding (`ContentCoding.isDecodable`); the errors of the stream.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        switch state {
        case .asIs: return try input.read(into: buffer)
        case .decoding(let decoder): return try decoder.read(into: buffer)
        case .unopened:
            state = try open()
            return try read(into: buffer)
        }
    }

    private func open() throws(WebArchiveError) -> State {
        let head = try input.peek(4)
        if head.isEmpty { return .asIs }
        switch coding {
        case .gzip: return GzipMember.starts(head) ? .decoding(GzipStream(body: input, allowance)) : .asIs
        case .deflate:
            let isZlib = head.count > 1 && head[0] & 0x0F == 8 && (Int(head[0]) << 8 | Int(head[1])) % 31 == 0
            let name = name
            return try open { () throws(WebArchiveError) in
                try InflateStep(isZlib ? .zlib : .rawDeflate, file: name)
            }
        case .br: return try openBrotli()
        case .zstd: return ZstdFrame.starts(head) ? try openZstd() : .asIs
        }
    }

    private func openBrotli() throws(WebArchiveError) -> State {
        #if WITH_BROTLI
        let name = name
        return try open { () throws(WebArchiveError) in try BrotliStep(file: name) }
        #else
        // This build can't try to decode it. Data that begins like text isn't encoded.
        guard UTF8Text.begins(try input.peek(Self.textBytes)) else { throw .withoutDecoder(.br, file: name) }
        return .asIs
        #endif
    }

    /// Opens a coding without a signature. Data isn't encoded if it's text, or if it can't be decoded from the start.
    private func open(_ step: () throws(WebArchiveError) -> any DecodingStep) throws(WebArchiveError) -> State {
        let start = try input.peek(Self.textBytes)
        if UTF8Text.begins(start) {
            // Encoded data has other bytes long before. If there are so few, they're encoded if they can be decoded.
            guard start.count < Self.textBytes else { return .asIs }
            let text = BufferedInput(SourceStream(MemoryByteSource(start, name: name)))
            let whole = StepDecoder(text, try step(), allowance)
            do throws(WebArchiveError) {
                try whole.skipAll()
                // Some letters and digits are a whole, empty stream. Encoders write an empty brotli body as `;`.
                guard try text.isAtEnd(), start.count > 1 || start == [UInt8(ascii: ";")] else { return .asIs }
            } catch {
                return .asIs
            }
        }
        let decoder = StepDecoder(input, try step(), allowance)
        do throws(WebArchiveError) {
            try decoder.prepare()
            return .decoding(decoder)
        } catch let error where error.code == .badEncoding && input.offset == 0 {
            return .asIs
        }
    }

    private static let textBytes = 256

    private func openZstd() throws(WebArchiveError) -> State {
        #if WITH_ZSTD
        return .decoding(StepDecoder(input, try ZstdStep(file: name), allowance))
        #else
        throw .withoutDecoder(.zstd, file: name)
        #endif
    }
}

/// A decoder that is fed with pieces of input.
protocol DecodingStep: AnyObject {
    /// Decodes from `input` into `output` until the input is used up, the output is full, or the data ends.
    ///
    /// - Throws: `badEncoding` if the data is damaged.
    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(WebArchiveError) -> Inflater.Step

    /// Whether the data is complete after the last call.
    var isComplete: Bool { get }
}

/// Feeds a decoding step from a buffered input. Ignores bytes after the end of the data.
final class StepDecoder: ByteStream {
    var name: String { input.name }
    private let input: BufferedInput
    private let step: any DecodingStep
    private let allowance: Allowance
    private var first: [UInt8] = []
    private var isFinished = false

    init(_ input: BufferedInput, _ step: any DecodingStep, _ allowance: Allowance) {
        (self.input, self.step, self.allowance) = (input, step, allowance)
    }

    /// Decodes and keeps the first bytes. Consumes no input if that fails.
    func prepare() throws(WebArchiveError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { buffer.deallocate() }
        let count = try read(into: buffer)
        first = Array(buffer[..<count])
    }

    /// Decodes all data, and discards it.
    func skipAll() throws(WebArchiveError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { buffer.deallocate() }
        while try read(into: buffer) > 0 {}
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        if !first.isEmpty {
            let count = min(first.count, buffer.count)
            buffer.copyBytes(from: first.prefix(count))
            first.removeFirst(count)
            return count
        }
        var consumed = 0
        while !isFinished {
            let isAtEnd = try input.isAtEnd()
            let done = try step.decode(input.unread, into: buffer)
            input.consume(done.consumed)
            consumed += done.consumed
            guard consumed < WebArchiveError.bytesWithoutContentMax else { throw .noContent(file: name) }
            isFinished = done.isFinished
            try allowance.charge(done.produced, file: name)
            if done.produced > 0 { return done.produced }
            guard !isAtEnd || isFinished else {
                guard step.isComplete else {
                    throw WebArchiveError(code: .truncated, problem: "the encoded body ends early", file: name)
                }
                return 0
            }
        }
        return 0
    }
}
