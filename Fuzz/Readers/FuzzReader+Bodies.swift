import WebArchive

extension FuzzReader {
    /// The maximum number of bytes to decode from an input.
    private static let decodedMax: UInt64 = 1 << 20
    /// That of a step with the smallest file.
    private static var allowance: Allowance { Allowance(archiveSize: 0) }

    static func readGzip(_ bytes: [UInt8]) throws {
        let whole = Decoded { GzipStream(PieceStream(bytes, piece: .max), allowance) }
        for piece in [1, 7, 4096] {
            let inPieces = Decoded { GzipStream(PieceStream(bytes, piece: piece), allowance) }
            try require(inPieces.agrees(with: whole), "in pieces of \(piece) bytes, it inflates to different bytes")
        }
        for format in [Inflater.Format.rawDeflate, .gzip, .zlib] {
            try orRefuse { try inflate(bytes, format) }
        }
    }

    private static func inflate(_ bytes: [UInt8], _ format: Inflater.Format) throws {
        let inflater = try Inflater(format: format, file: "fuzz.gz")
        var (consumed, produced) = (0, 0)
        var output = [UInt8](repeating: 0, count: 1000)
        while produced < decodedMax {
            let step = try bytes[consumed...].withUnsafeBytes { input in
                try output.withUnsafeMutableBytes { try inflater.inflate(input, into: $0) }
            }
            consumed += step.consumed
            produced += step.produced
            try require(consumed <= bytes.count, "more bytes were consumed than exist")
            if step.isFinished || step.consumed + step.produced == 0 { return }
        }
    }

    static func readWARC(_ bytes: [UInt8]) throws {
        let reader = WARCReader(MemoryByteSource(bytes, name: "fuzz.warc"))
        let scanner = try reader.makeScanner()
        var end: UInt64 = 0
        while let item = try scanner.next() {
            try require(item.record.offset >= end, "two records overlap")
            end = item.record.offset + item.length
            try require(end <= UInt64(bytes.count), "a record ends after the end of the file")
            try orRefuse {
                let again = try reader.record(at: item.record.offset, length: item.length)
                try require(again.headers == item.record.headers, "a lookup of the record returns different fields")
            }
            try orRefuse { try check(item.record) }
        }
    }

    static func readZstdFrames(_ bytes: [UInt8]) throws {
        let source = MemoryByteSource(bytes, name: "fuzz.warc.zst")
        let frames = try ZstdFrames(source, allowance)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1000, alignment: 1)
        defer { buffer.deallocate() }
        var (produced, damagedFrom) = (0, UInt64(0))
        while produced < decodedMax {
            do {
                let count = try frames.read(into: buffer)
                if count == 0 { break }
                produced += count
            } catch {
                let start = error.offset ?? 0
                try require(start >= damagedFrom, "the same frame is damaged twice")
                damagedFrom = start + 1
            }
        }
        try require(frames.offset == source.size || produced >= decodedMax, "reading stops before the end")
        _ = try WARCFormat(source)
    }

    /// Reads a record like replay does.
    static func check(_ record: WARCRecord) throws {
        _ = (record.timestamp, record.targetURI, record.payloadDigest.map { WARCDigest($0) }, record.isRevisit)
        let content = try RecordContent(record)
        let body = try content.openBody().readAll(limit: decodedMax)
        try require(UInt64(body.count) <= content.storedBodyLength, "the body is longer than the record")
        if let length = content.bodyLength {
            try require(UInt64(body.count) == length, "the body has a different length")
        }
        for offset in Set([1, body.count / 2, body.count]) where offset <= body.count {
            let rest = try content.openBody(from: UInt64(offset)).readAll(limit: decodedMax)
            try require(rest.elementsEqual(body[offset...]), "the body read from byte \(offset) differs")
        }
        guard let head = content.head, let codings = ContentCoding.applied(in: head.fields) else { return }
        _ = try ContentDecoder.decode(content.openBody(), codings, content.record.allowance).readAll(limit: decodedMax)
    }

    static func readHTTPHead(_ bytes: [UInt8]) throws {
        let record = try WARCReader(MemoryByteSource(response(bytes), name: "fuzz.warc")).record(at: 0)
        let content = try RecordContent(record)
        guard let head = content.head else { return }
        try require(head.length <= bytes.count, "the head is longer than the message")
        try require(head.status.map { (100...999).contains($0) } ?? true, "the status doesn't have three digits")
        for field in head.fields.fields {
            try require(!(field.name + field.value).utf8.contains(0x0A), "a field has more than one line")
            try require(!head.fields.all(field.name).isEmpty, "a field can't be found by its name")
        }
        _ = (head.mime, ContentCoding.applied(in: head.fields))
        try check(record)
        try checkLimits(of: head, bytes)
    }

    /// Checks that a head is refused exactly if it's beyond its limits.
    private static func checkLimits(of head: HTTPMessageHead, _ bytes: [UInt8]) throws {
        var limits = Limits.standard
        (limits.headLinesMax, limits.httpHeadBytesMax) = (12, 200)
        let lines = bytes.prefix(head.length).count { $0 == 0x0A }
        do {
            let source = MemoryByteSource(response(bytes), name: "fuzz.warc")
            let strict = try RecordContent(WARCReader(source, limits: limits).record(at: 0)).head
            try require(strict == head, "with limits, the head has other fields")
            // The last line may have no end, and the empty one after it doesn't count.
            try require(head.length <= 202 && lines <= 13, "a head beyond the limits was read")
        } catch let error as WebArchiveError {
            try require(error.code == .tooLarge, "with limits, the head isn't too large but \(error.code)")
            try require(head.length > 198 || lines >= 12, "a head within the limits was refused")
        }
    }

    static func readChunked(_ bytes: [UInt8]) throws {
        let head = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        let plain = response(head + bytes)
        let whole = Decoded { try body(of: plain) }
        try require(whole.error == nil, "a chunked body was refused: \(whole.error?.rawValue ?? "")")
        try require(whole.bytes.count <= bytes.count, "more bytes than were sent")
        for step in [1, 5] {
            let inSteps = Decoded(step: step) { try body(of: plain) }
            try require(inSteps.agrees(with: whole), "read \(step) bytes at a time, it differs")
        }
        let compressed = SmallPackage.gzipped(plain)
        try require(
            Decoded { try body(of: compressed) }.agrees(with: whole), "in a gzipped record, it differs")
    }

    private static func body(of warc: [UInt8]) throws -> any ByteStream {
        let record = try WARCReader(MemoryByteSource(warc, name: "fuzz.warc")).record(at: 0)
        return try RecordContent(record).openBody()
    }

    /// Returns a WARC record with an HTTP response.
    private static func response(_ message: [UInt8]) -> [UInt8] {
        Array(
            ("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/\r\n"
                + "Content-Type: application/http;msgtype=response\r\nContent-Length: \(message.count)\r\n\r\n").utf8)
            + message + Array("\r\n\r\n".utf8)
    }

    static func readContentCodings(_ bytes: [UInt8]) throws {
        guard let first = bytes.first else { return }
        let all = ContentCoding.allCases
        // Two bits for each coding, and two for their number.
        let codings = (0...Int(first & 3)).map { all[Int(first >> (2 + 2 * ($0 % 3))) & 3] }
        let input = Array(bytes.dropFirst())
        let whole = Decoded { ContentDecoder.decode(PieceStream(input, piece: .max), codings, allowance) }
        let inSteps = Decoded(step: 3) { ContentDecoder.decode(PieceStream(input, piece: .max), codings, allowance) }
        try require(inSteps.agrees(with: whole), "read 3 bytes at a time, it differs")
        guard codings.count == 1 else { return }
        let inPieces = Decoded { ContentDecoder.decode(PieceStream(input, piece: 5), codings, allowance) }
        // A body that can't be decoded from the start stays unchanged. How much of it is tried depends on the pieces.
        let isUnchanged = whole.error == nil && whole.bytes == input && inPieces.error != nil
        try require(isUnchanged || inPieces.agrees(with: whole), "in pieces of 5 bytes, it decodes to different bytes")
    }

    /// The bytes of a stream up to its end, an error or the limit.
    private struct Decoded {
        var bytes: [UInt8] = []
        var error: WebArchiveError.Code?

        /// Returns whether both are equal. The first error, and the bytes before it, may depend on the pieces.
        func agrees(with other: Decoded) -> Bool {
            if error == nil, other.error == nil { return bytes == other.bytes }
            let reachedLimit = max(bytes.count, other.bytes.count) == Int(FuzzReader.decodedMax)
            return (error == nil) == (other.error == nil) || reachedLimit
        }

        /// - Parameter step: The number of bytes to read at a time.
        init(step: Int = 64 << 10, _ open: () throws -> any ByteStream) {
            do {
                let stream = try open()
                let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: step, alignment: 1)
                defer { buffer.deallocate() }
                while bytes.count < FuzzReader.decodedMax {
                    let count = try stream.read(into: buffer)
                    if count == 0 { return }
                    bytes += buffer[..<count]
                }
                bytes.removeLast(bytes.count - Int(FuzzReader.decodedMax))
            } catch let failure as WebArchiveError {
                error = failure.code
            } catch {
                self.error = .io
            }
        }
    }
}

/// Bytes in memory that are returned in pieces.
private final class PieceStream: ByteStream {
    let name = "fuzz"
    private let bytes: [UInt8]
    private let piece: Int
    private var position = 0

    init(_ bytes: [UInt8], piece: Int) {
        (self.bytes, self.piece) = (bytes, piece)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        let count = min(piece, buffer.count, bytes.count - position)
        buffer.copyBytes(from: bytes[position..<position + count])
        position += count
        return count
    }
}
