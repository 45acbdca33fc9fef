#if WITH_BROTLI
import CBrotli
#endif
#if WITH_ZSTD
import CZstd
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
/// Decodes consecutive Zstandard frames. RFC 8878. RFC 9659 limits the window of the content coding to 8 MB.
final class ZstdStep: DecodingStep {
    private let decoder: OpaquePointer
    private let file: String
    private(set) var isComplete = false

    /// The base-2 logarithm of the maximum window size in bytes. WARC-ZSTD 1.0 requires the same.
    private static let windowLogMax: Int32 = 23

    init(file: String) throws(WebArchiveError) {
        decoder = try Self.makeDecoder(file: file)
        self.file = file
    }

    /// Returns a decoder with limited memory, to free with `ZSTD_freeDStream`.
    static func makeDecoder(file: String) throws(WebArchiveError) -> OpaquePointer {
        guard let decoder = ZSTD_createDStream() else {
            throw WebArchiveError(code: .io, problem: "not enough memory to decode zstd data", file: file)
        }
        ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, windowLogMax)
        return decoder
    }

    deinit { ZSTD_freeDStream(decoder) }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(WebArchiveError) -> Inflater.Step {
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let status = ZSTD_decompressStream(decoder, &target, &source)
        guard ZSTD_isError(status) == 0 else {
            throw .badEncoding("zstd: \(String(cString: ZSTD_getErrorName(status)))", file: file)
        }
        // 0 means the end of a frame. Another one may follow.
        if source.pos > 0 || target.pos > 0 { isComplete = status == 0 }
        return Inflater.Step(consumed: source.pos, produced: target.pos, isFinished: false)
    }
}
#endif

enum ZstdFrame {
    /// The first bytes of a frame. RFC 8878 §3.1.1.
    static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    /// Returns whether `bytes` begin with a frame or a skippable frame. RFC 8878 §3.1.
    static func starts(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 4 else { return false }
        return bytes == magic || bytes[0] & 0xF0 == 0x50 && bytes[1...] == [0x2A, 0x4D, 0x18]
    }
}
