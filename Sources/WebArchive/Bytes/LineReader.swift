/// Reads a text line by line in bounded memory.
final class LineReader {
    /// A line, or the position of one that is too long to keep.
    struct Line {
        /// The line number, counted from 1.
        let number: Int
        /// The byte offset of the line in the text.
        let offset: UInt64
        /// The line without its line ending; `nil` if it's too long.
        let bytes: [UInt8]?
    }

    private let input: BufferedInput
    private let lineBytesMax: Int
    private let skippedLineBytesMax: Int
    private var number = 0

    /// The byte offset of the next line.
    var offset: UInt64 { input.offset }

    /// - Parameters:
    ///   - offset: The byte offset of the stream's first byte in the text.
    ///   - capacity: The number of bytes to read at a time.
    init(
        _ stream: any ByteStream, offset: UInt64 = 0, capacity: Int = 256 << 10, lineBytesMax: Int,
        skippedLineBytesMax: Int
    ) {
        input = BufferedInput(stream, offset: offset, capacity: capacity)
        self.lineBytesMax = lineBytesMax
        self.skippedLineBytesMax = max(skippedLineBytesMax, lineBytesMax)
    }

    /// Returns the next line, or `nil` at the end of the text.
    ///
    /// - Throws: `tooLarge` if a line is longer than `skippedLineBytesMax`.
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
