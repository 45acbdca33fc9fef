import CZlib

/// Decompresses a deflated entry, and checks its size and CRC.
final class InflatedEntryStream: ByteStream {
    let name: String
    private let entry: ZIPEntry
    private let input: BufferedInput
    private let inflater: Inflater
    private let allowance: Allowance
    private var produced: UInt64 = 0
    private var checksum: UInt = 0
    private var isFinished = false

    init(_ entry: ZIPEntry, in directory: ZIPDirectory, _ allowance: Allowance) throws(WebArchiveError) {
        let range = try directory.dataRange(of: entry)
        let name = directory.path(of: entry)
        let bytes = try SubrangeByteSource(
            directory.source, offset: range.lowerBound, length: entry.compressedSize, name: name)
        (self.entry, self.name, self.allowance) = (entry, name, allowance)
        input = BufferedInput(SourceStream(bytes))
        inflater = try Inflater(format: .rawDeflate, file: name)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        while !isFinished {
            if try input.isAtEnd() {
                throw WebArchiveError(
                    code: .truncated, problem: "the compressed data ends early", file: name, offset: input.offset)
            }
            let step = try inflater.inflate(input.unread, into: buffer, offset: input.offset)
            input.consume(step.consumed)
            produced += UInt64(step.produced)
            let bytes = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            checksum = CZlib.crc32(checksum, bytes, UInt32(step.produced))
            isFinished = step.isFinished
            try check()
            try allowance.charge(step.produced, file: name)
            if step.produced > 0 { return step.produced }
        }
        return 0
    }

    private func check() throws(WebArchiveError) {
        guard produced <= entry.uncompressedSize, !isFinished || produced == entry.uncompressedSize else {
            throw WebArchiveError(
                code: .corruptZIP,
                problem: "the data expands to \(produced) bytes, but the ZIP declares \(entry.uncompressedSize)",
                file: name)
        }
        guard !isFinished || UInt32(truncatingIfNeeded: checksum) == entry.crc32 else {
            throw WebArchiveError(code: .corruptZIP, problem: "the content doesn't match its CRC-32", file: name)
        }
    }
}
