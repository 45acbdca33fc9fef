#if WITH_ZSTD
/// Decompresses the Zstandard frames of a WARC file as one stream. WARC-ZSTD 1.0, RFC 8878.
///
/// A frame can hold a record, a part of one, or several. After `badGzip`, which also stands for damaged frames, or
/// `truncated`, reading goes on with the next frame.
package final class ZstdFrames: ByteStream {
    package var name: String { source.name }
    /// The number of bytes of the file that were read.
    package var offset: UInt64 { input.offset }
    private let source: any ByteSource
    private let decoder: ZstdDecoder
    private let allowance: Allowance
    private var input: BufferedInput
    /// The offset of the frame that is being read.
    private var frameStart: UInt64?
    /// The number of bytes that may still be read a second time.
    private var rereadBytesLeft: UInt64

    /// - Throws: `badGzip`, `truncated` or `tooLarge` if the dictionary can't be used; `io`.
    package init(_ source: any ByteSource, _ allowance: Allowance) throws(WebArchiveError) {
        let dictionary = try ZstdDictionary.read(from: source)
        (self.source, self.allowance) = (source, allowance)
        decoder = try ZstdDecoder(file: source.name)
        input = BufferedInput(SourceStream(source))
        rereadBytesLeft = max(source.size, 16 << 20)
        guard decoder.load(dictionary: dictionary) else {
            throw ZstdDictionary.damaged("its tables are wrong", file: source.name)
        }
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        while true {
            let isAtEnd = try input.isAtEnd()
            if frameStart == nil {
                if isAtEnd { return 0 }
                frameStart = input.offset
                guard ZstdFrame.starts(try input.peek(4)) else {
                    throw try skipFrame(.badGzip, "no Zstandard frame begins here")
                }
            }
            let step: ZstdDecoder.Step
            do throws(ZstdDecoder.Damage) {
                step = try decoder.decompress(input.unread, into: buffer)
            } catch {
                throw try skipFrame(.badGzip, "a Zstandard frame can't be decompressed (\(error.reason))")
            }
            input.consume(step.consumed)
            if step.isEndOfFrame { frameStart = nil }
            try allowance.charge(step.produced, file: name)
            if step.produced > 0 { return step.produced }
            if isAtEnd, frameStart != nil { throw try skipFrame(.truncated, "a Zstandard frame ends early") }
        }
    }

    /// Skips to what may be the next frame, or as far as the file was read. Returns the error for this frame.
    private func skipFrame(
        _ code: WebArchiveError.Code, _ problem: String
    ) throws(WebArchiveError) -> WebArchiveError {
        let start = frameStart ?? input.offset
        frameStart = nil
        decoder.reset()
        let length = input.offset - start
        let cost = length + (64 << 10)
        if length == 0 {
            input.consume(1)
        } else if length <= Self.rereadBytesMax, cost <= rereadBytesLeft {
            // A frame that is cut off, or whose length is wrong, takes the start of the next one for its own.
            rereadBytesLeft -= cost
            input = BufferedInput(SourceStream(source, offset: start + 1), offset: start + 1)
            _ = try input.fill()
        }
        let end = input.offset + UInt64(input.unread.count)
        while input.offset < end, try !input.look(4).elementsEqual(ZstdFrame.magic) {
            let next = input.unread.dropFirst().firstIndex(of: ZstdFrame.magic[0])
            input.consume(next ?? input.unread.count)
        }
        return WebArchiveError(code: code, problem: problem, file: name, offset: start)
    }

    /// The length up to which a damaged frame is searched for the start of the next one.
    private static let rereadBytesMax: UInt64 = 1 << 20
}

/// The dictionary of a WARC file that is compressed with Zstandard. WARC-ZSTD 1.0, "Dictionaries".
private enum ZstdDictionary {
    /// The maximum size of a dictionary, also of a compressed one. WARC-ZSTD 1.0, "Window and dictionary limits".
    private static let bytesMax: UInt64 = 8 << 20

    /// Reads the dictionary from the skippable frame at the start of a file; empty if there is none.
    static func read(from source: any ByteSource) throws(WebArchiveError) -> [UInt8] {
        let head = try source.read(at: 0, count: Int(min(source.size, 8)))
        guard head.count == 8, head.starts(with: [0x5D, 0x2A, 0x4D, 0x18]) else { return [] }
        let length = UInt64(head.uint32(at: 4))
        guard length <= bytesMax else { throw tooLarge(source.name) }
        let stored = try SubrangeByteSource(source, offset: 8, length: length)
        let dictionary: [UInt8]
        do throws(WebArchiveError) {
            // It may be compressed itself.
            dictionary = try ContentDecoder(
                SourceStream(stored), coding: .zstd, Allowance(bytes: bytesMax)
            ).readAll(limit: bytesMax)
        } catch {
            switch error.code {
            case .tooLarge, .tooCostly: throw tooLarge(source.name)
            case .badEncoding, .truncated: throw damaged("it can't be decompressed", file: source.name)
            default: throw error
            }
        }
        guard dictionary.starts(with: [0x37, 0xA4, 0x30, 0xEC]) else {
            throw damaged("it doesn't begin as it should", file: source.name)
        }
        return dictionary
    }

    static func damaged(_ problem: String, file: String) -> WebArchiveError {
        WebArchiveError(
            code: .badGzip, problem: "the Zstandard dictionary is damaged: \(problem)", file: file, offset: 0)
    }

    private static func tooLarge(_ file: String) -> WebArchiveError {
        WebArchiveError(
            code: .tooLarge, problem: "the Zstandard dictionary is larger than 8 MiB", file: file)
    }
}
#else
/// What a build without Zstandard has instead.
package final class ZstdFrames: ByteStream {
    package let name = ""
    package let offset: UInt64 = 0

    /// - Throws: `unsupported`.
    package init(_ source: any ByteSource, _ allowance: Allowance) throws(WebArchiveError) {
        throw WebArchiveError(
            code: .unsupported, problem: "the file is compressed with Zstandard, and this build has no decoder for it",
            file: source.name, hint: "decompress it, then add it once more")
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int { 0 }
}
#endif
