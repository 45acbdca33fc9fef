import WebArchive

extension FuzzReader {
    /// Finds the character encoding of a document, and converts it.
    static func readEncoding(_ bytes: [UInt8]) throws {
        let lines = bytes.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false).map(Array.init)
        guard lines.count == 3 else { return }
        for syntax in [EncodingDetector.Syntax.html, .xml, .text] {
            let whole = text(lines, syntax, piece: .max)
            try require(whole.text == Array(String(decoding: whole.text, as: UTF8.self).utf8), "the text isn't UTF-8")
            for piece in [1, 1000] {
                let inPieces = text(lines, syntax, piece: piece)
                try require(
                    inPieces.encoding == whole.encoding, "in pieces of \(piece) bytes, another encoding is found")
                try require(inPieces.text == whole.text, "in pieces of \(piece) bytes, the text is another")
            }
        }
    }

    private static func text(
        _ lines: [[UInt8]], _ syntax: EncodingDetector.Syntax, piece: Int
    ) -> (encoding: TextEncoding, text: [UInt8]) {
        var detector = EncodingDetector(
            contentType: String(decoding: lines[0], as: UTF8.self),
            identifiedType: String(decoding: lines[1], as: UTF8.self), syntax: syntax)
        let pieces = stride(from: 0, to: lines[2].count, by: piece).map {
            Array(lines[2][$0..<min($0.addingSaturated(piece), lines[2].count)])
        }
        var found: TextEncoding?
        for piece in pieces where found == nil { found = detector.read(piece) }
        let encoding = found ?? detector.finish()
        let converter = TextConverter(encoding)
        return (encoding, pieces.flatMap { converter.convert($0) } + converter.finish())
    }
}
