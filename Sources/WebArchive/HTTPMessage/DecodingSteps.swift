#if WITH_BROTLI
import CBrotli
#endif

extension WebArchiveError {
    /// Returns the error for a body that doesn't match its `Content-Encoding`.
    fileprivate static func badEncoding(_ detail: String, file: String) -> WebArchiveError {
        WebArchiveError(code: .badEncoding, problem: "the encoded body is damaged: \(detail)", file: file)
    }

    /// Returns the error for a coding that this build has no decoder for.
    static func withoutDecoder(_ coding: ContentCoding, file: String) -> WebArchiveError {
        WebArchiveError(
            code: .unsupported,
            problem: "the body is encoded as \(coding.rawValue), and this build has no decoder for it",
            file: file, hint: "use a build with that decoder, or open the body in a browser")
    }

    /// Returns the error for data that never decodes to any content and would block a reader.
    static func noContent(file: String) -> WebArchiveError {
        WebArchiveError(code: .badEncoding, problem: "the compressed data never produces any content", file: file)
    }

    /// The maximum number of compressed bytes that may decode to nothing.
    static let bytesWithoutContentMax = 16 << 20
}

/// Decodes deflate data, with or without a zlib container. RFC 1950, RFC 1951.
final class InflateStep: DecodingStep {
    private let inflater: Inflater
    private let file: String
    let isComplete = false

    init(_ format: Inflater.Format, file: String) throws(WebArchiveError) {
        inflater = try Inflater(format: format, file: file)
        self.file = file
    }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(WebArchiveError) -> Inflater.Step {
        do throws(WebArchiveError) {
            return try inflater.inflate(input, into: output)
        } catch {
            throw .badEncoding(error.problem, file: file)
        }
    }
}

#if WITH_BROTLI
/// Decodes brotli data. RFC 7932.
final class BrotliStep: DecodingStep {
    private let decoder: OpaquePointer
    private let file: String
    let isComplete = false

    init(file: String) throws(WebArchiveError) {
        guard let decoder = BrotliDecoderCreateInstance(nil, nil, nil) else {
            throw WebArchiveError(code: .io, problem: "not enough memory to decode brotli data", file: file)
        }
        self.decoder = decoder
        self.file = file
    }

    deinit { BrotliDecoderDestroyInstance(decoder) }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(WebArchiveError) -> Inflater.Step {
        var (inputCount, outputCount) = (input.count, output.count)
        var source = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var target = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result = BrotliDecoderDecompressStream(decoder, &inputCount, &source, &outputCount, &target, nil)
        guard result != BROTLI_DECODER_RESULT_ERROR else {
            let detail = String(cString: BrotliDecoderErrorString(BrotliDecoderGetErrorCode(decoder)))
            throw .badEncoding("brotli: \(detail)", file: file)
        }
        return Inflater.Step(
            consumed: input.count - inputCount, produced: output.count - outputCount,
            isFinished: result == BROTLI_DECODER_RESULT_SUCCESS)
    }
}

#endif

#if WITH_ZSTD
/// Decodes consecutive Zstandard frames. RFC 8878, RFC 9659.
final class ZstdStep: DecodingStep {
    private let decoder: ZstdDecoder
    private let file: String
    private(set) var isComplete = false

    init(file: String) throws(WebArchiveError) {
        decoder = try ZstdDecoder(file: file)
        self.file = file
    }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(WebArchiveError) -> Inflater.Step {
        let step: ZstdDecoder.Step
        do throws(ZstdDecoder.Damage) {
            step = try decoder.decompress(input, into: output)
        } catch {
            throw .badEncoding("zstd: \(error.reason)", file: file)
        }
        // Another frame may follow.
        if step.consumed > 0 || step.produced > 0 { isComplete = step.isEndOfFrame }
        return Inflater.Step(consumed: step.consumed, produced: step.produced, isFinished: false)
    }
}
#endif
