#if WITH_ZSTD
import CZstd

/// Decompresses Zstandard frames piece by piece, in limited memory. RFC 8878.
final class ZstdDecoder {
    struct Step {
        let consumed: Int
        let produced: Int
        let isEndOfFrame: Bool
    }

    /// Why a frame can't be decompressed.
    struct Damage: Error {
        let reason: String
    }

    /// The base-2 logarithm of the maximum window size in bytes. RFC 9659 limits the window of the content coding to 8 MB, and
    /// WARC-ZSTD 1.0 requires the same.
    private static let windowLogMax: Int32 = 23
    /// The maximum size of a frame's header. RFC 8878 §3.1.1.
    private static let headBytesMax = 18

    private let decoder: OpaquePointer
    /// The first bytes of the current frame.
    private var head: [UInt8] = []
    private var produced: UInt64 = 0

    init(file: String) throws(WebArchiveError) {
        guard let decoder = ZSTD_createDStream() else {
            throw WebArchiveError(code: .io, problem: "not enough memory to decode zstd data", file: file)
        }
        ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, Self.windowLogMax)
        self.decoder = decoder
    }

    deinit { ZSTD_freeDStream(decoder) }

    /// - Returns: Whether the dictionary can be used.
    func load(dictionary: [UInt8]) -> Bool {
        ZSTD_isError(ZSTD_DCtx_loadDictionary(decoder, dictionary, dictionary.count)) == 0
    }

    /// Forgets the current frame, but not the dictionary.
    func reset() {
        ZSTD_DCtx_reset(decoder, ZSTD_reset_session_only)
        (head, produced) = ([], 0)
    }

    /// Decompresses until the input is used up, the output is full, or a frame ends.
    func decompress(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(Damage) -> Step {
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let status = ZSTD_decompressStream(decoder, &target, &source)
        guard ZSTD_isError(status) == 0 else { throw Damage(reason: String(cString: ZSTD_getErrorName(status))) }
        head += input.prefix(min(source.pos, Self.headBytesMax - head.count))
        produced += UInt64(target.pos)
        let isEnd = status == 0
        if isEnd {
            try checkSize()
            (head, produced) = ([], 0)
        }
        return Step(consumed: source.pos, produced: target.pos, isEndOfFrame: isEnd)
    }

    /// Compares the size of the frame with the one that it states. The library does so only if it decodes the frame in one call, or
    /// if the last block isn't empty.
    private func checkSize() throws(Damage) {
        let stated = ZSTD_getFrameContentSize(head, head.count)
        // The last two numbers mean that the size isn't stated, and that there is no frame.
        guard stated < UInt64.max - 1, stated != produced else { return }
        throw Damage(reason: "the frame has \(produced) bytes instead of \(stated)")
    }
}
#endif
