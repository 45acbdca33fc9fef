import ArchiveStore
import NIOCore
import NIOHTTP1
import WebArchive

/// The response to a request for an archive's file.
struct ArchiveAnswer {
    /// A part of the body: bytes in memory, or a range of the file.
    enum Piece: Equatable {
        case bytes(ByteBuffer)
        case file(ByteRange)
    }

    let status: HTTPResponseStatus
    let headers: HTTPHeaders
    let pieces: [Piece]

    /// - Parameter date: The value of `Date`. RFC 9110 §6.6.1.
    init(to request: ArchiveRequest, file: OpenArchiveFile, date: String) {
        let tag = Self.tag(of: file)
        var headers = Self.commonHeaders
        headers.add(name: "date", value: date)
        headers.add(name: "etag", value: tag.description)
        headers.add(name: "last-modified", value: HTTPDate.text(ofSeconds: file.modifiedAt))
        var length: UInt64 = 0
        var pieces: [Piece] = []
        switch request.conditions.answer(
            tag: tag, modifiedAt: file.modifiedAt, size: file.size, isHead: request.isHead)
        {
        case .whole:
            status = .ok
            length = file.size
            if file.size > 0 { pieces = Self.pieces(ByteRange(first: 0, last: file.size - 1), of: file) }
            headers.add(name: "content-type", value: Self.type)
        case .ranges(let ranges) where ranges.count == 1:
            status = .partialContent
            length = ranges[0].length
            pieces = Self.pieces(ranges[0], of: file)
            headers.add(name: "content-type", value: Self.type)
            headers.add(name: "content-range", value: ranges[0].contentRange(size: file.size))
        case .ranges(let ranges):
            status = .partialContent
            let boundary = Self.boundary()
            (pieces, length) = Self.multipart(ranges, of: file, boundary: boundary)
            headers.add(name: "content-type", value: "multipart/byteranges; boundary=\(boundary)")
        case .notModified:
            status = .notModified
        case .preconditionFailed:
            status = .preconditionFailed
        case .rangeNotSatisfiable:
            status = .rangeNotSatisfiable
            headers.add(name: "content-range", value: "bytes */\(file.size)")
        }
        if status != .notModified { headers.add(name: "content-length", value: String(length)) }
        self.headers = headers
        self.pieces = request.isHead ? [] : pieces
    }

    /// Returns the hash, or size and modification time of a linked file that isn't hashed yet.
    private static func tag(of file: OpenArchiveFile) -> ETag {
        let form = file.tail == nil ? "" : file.archive.showsUncovered ? "-replay-all" : "-replay"
        if let sha256 = file.archive.sha256 { return ETag(strong: sha256 + form) }
        return ETag(weak: "\(file.size)-\(file.archive.storage.linkedFile?.modifiedAtNanoseconds ?? 0)\(form)")
    }

    /// Returns a range of the body, from the file, the tail that replaces its end, or both.
    private static func pieces(_ range: ByteRange, of file: OpenArchiveFile) -> [Piece] {
        guard let tail = file.tail, range.last >= tail.offset else { return [.file(range)] }
        let first = max(range.first, tail.offset)
        let bytes = tail.bytes[Int(first - tail.offset)...Int(range.last - tail.offset)]
        let end = Piece.bytes(ByteBuffer(bytes: bytes))
        return range.first < tail.offset ? [.file(ByteRange(first: range.first, last: tail.offset - 1)), end] : [end]
    }

    /// Returns the body of a multipart/byteranges response. RFC 9110 §14.6.
    private static func multipart(
        _ ranges: [ByteRange], of file: OpenArchiveFile, boundary: String
    ) -> ([Piece], UInt64) {
        var pieces: [Piece] = []
        var length: UInt64 = 0
        for (position, range) in ranges.enumerated() {
            let head =
                "\(position == 0 ? "" : "\r\n")--\(boundary)\r\nContent-Type: \(type)\r\n"
                + "Content-Range: \(range.contentRange(size: file.size))\r\n\r\n"
            pieces.append(.bytes(ByteBuffer(string: head)))
            pieces += Self.pieces(range, of: file)
            length += UInt64(head.utf8.count) + range.length
        }
        let tail = "\r\n--\(boundary)--\r\n"
        pieces.append(.bytes(ByteBuffer(string: tail)))
        return (pieces, length + UInt64(tail.utf8.count))
    }

    /// Returns a random boundary, which an archive can't contain on purpose.
    private static func boundary() -> String {
        "replayhost-" + String(UInt64.random(in: .min ... .max), radix: 36)
            + String(UInt64.random(in: .min ... .max), radix: 36)
    }

    private static let type = "application/wacz"

    private static let commonHeaders: HTTPHeaders = [
        "accept-ranges": "bytes", "cache-control": "no-cache", "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin", "referrer-policy": "no-referrer",
        "content-security-policy": SecurityHeaders.inert,
    ]
}
