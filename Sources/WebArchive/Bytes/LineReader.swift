/// Reads lines one after another with bounded memory.
final class LineReader {
    /// One line, or the place of one that was too long to keep.
    struct Line {
        /// Counted from 1.
        let number: Int
        /// Byte offset of the line's first byte in the text.
        let offset: UInt64
        /// The line without its line end; `nil` when it was too long.
        let bytes: [UInt8]?
    }

    private let input: BufferedInput
    private let lineBytesMax: Int
    private let skippedLineBytesMax: Int
    private var number = 0

    /// Byte offset of the next line.
    var offset: UInt64 { input.offset }

    /// - Parameters:
    ///   - offset: Byte offset of the stream's first byte in the text.
    ///   - capacity: Bytes that one read asks for.
    init(
        _ stream: any ByteStream, offset: UInt64 = 0, capacity: Int = 256 << 10, lineBytesMax: Int,
        skippedLineBytesMax: Int
    ) {
        input = BufferedInput(stream, offset: offset, capacity: capacity)
        self.lineBytesMax = lineBytesMax
        self.skippedLineBytesMax = max(skippedLineBytesMax, lineBytesMax)
    }

    /// The next line, or `nil` at the end of the text.
    ///
    /// - Throws: `tooLarge` when no line end comes for so long that the text cannot be one of lines.
    func next() throws(WebArchiveError) -> Line? {
        if try input.isAtEnd() { return nil }
        number += 1
        let lineOffset = input.offset
        var kept: [UInt8] = []
        var length = 0
        while try !input.isAtEnd() {
            let bytes = input.unread
            let stop = input.lineEnd
            let count = stop ?? bytes.count
            length += count
            if length <= lineBytesMax {
                kept.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            } else {
                kept = []
            }
            guard length <= skippedLineBytesMax else {
                throw WebArchiveError(
                    code: .tooLarge, problem: "line \(number) has more than \(skippedLineBytesMax) bytes",
                    file: input.name, offset: lineOffset)
            }
            input.consume(stop == nil ? count : count + 1)
            if stop != nil { break }
        }
        guard length <= lineBytesMax else { return Line(number: number, offset: lineOffset, bytes: nil) }
        if kept.last == UInt8(ascii: "\r") { kept.removeLast() }
        return Line(number: number, offset: lineOffset, bytes: kept)
    }
}
