package import ArchiveStore
import Foundation
package import HTTPTypes
package import Hummingbird
import NIOCore
import WebArchive

/// Sends an open file, whole or by ranges. RFC 9110 §13, §14.
package struct FileResponse: Sendable {
    private let file: Descriptor
    private let size: UInt64
    private let modifiedAt: Int
    private let tag: ETag
    /// `Content-Type`, `Content-Disposition`, `Content-Security-Policy` and so on.
    private let fields: HTTPFields

    /// - Parameter fields: Further header fields.
    package init(_ file: Descriptor, fields: HTTPFields) throws {
        let status = try file.status()
        (self.file, self.fields) = (file, fields)
        size = UInt64(clamping: status.st_size)
        let modified = status.modifiedAt
        modifiedAt = modified.seconds
        // Changes when the file is replaced or written.
        tag = ETag(strong: "\(status.st_ino)-\(size)-\(modified.seconds)-\(modified.nanoseconds)")
    }

    /// Returns the response to a GET or HEAD. A request for several ranges gets the complete file.
    package func response(to request: Request) -> Response {
        let headers = request.headers
        let conditions = ConditionalRequest(
            ifMatch: headers[.ifMatch], ifNoneMatch: headers[.ifNoneMatch], ifModifiedSince: headers[.ifModifiedSince],
            ifUnmodifiedSince: headers[.ifUnmodifiedSince], ifRange: headers[.ifRange], range: headers[.range])
        let isHead = request.method == .head
        var fields = SecurityHeaders.common.adding(self.fields).adding([
            .eTag: tag.description, .lastModified: HTTPDate.text(ofSeconds: modifiedAt), .acceptRanges: "bytes",
            .cacheControl: "no-cache",
        ])
        switch conditions.answer(tag: tag, modifiedAt: modifiedAt, size: size, isHead: isHead) {
        case .ranges(let ranges) where ranges.count == 1:
            fields[.contentRange] = ranges[0].contentRange(size: size)
            return response(.partialContent, fields, from: ranges[0].first, length: ranges[0].length, isHead)
        case .whole, .ranges: return response(.ok, fields, from: 0, length: size, isHead)
        case .notModified: return Response(status: .notModified, headers: fields)
        case .preconditionFailed: return Response(status: .preconditionFailed, headers: fields)
        case .rangeNotSatisfiable:
            fields[.contentRange] = "bytes */\(size)"
            return Response(status: .rangeNotSatisfiable, headers: fields)
        }
    }

    private func response(
        _ status: HTTPResponse.Status, _ fields: HTTPFields, from start: UInt64, length: UInt64, _ isHead: Bool
    ) -> Response {
        let file = file
        let body = ResponseBody(contentLength: Int(clamping: length)) { writer in
            var (offset, left) = (start, length)
            while left > 0 {
                let (position, count) = (offset, Int(min(left, Self.pieceBytes)))
                let bytes = try await BlockingWork()({ try file.bytes(at: position, upTo: count) })
                guard bytes.count == count else {
                    throw StoreError(.changed, "the file became shorter while it was sent", place: file.path)
                }
                try await writer.write(ByteBuffer(bytes: bytes))
                offset += UInt64(count)
                left -= UInt64(count)
            }
            try await writer.finish(nil)
        }
        let response = Response(status: status, headers: fields, body: body)
        return isHead ? response.createHeadResponse() : response
    }

    private static let pieceBytes: UInt64 = 256 << 10
}

extension stat {
    /// The modification time (mtime).
    var modifiedAt: (seconds: Int, nanoseconds: Int) {
        #if os(Linux)
        (st_mtim.tv_sec, st_mtim.tv_nsec)
        #else
        (st_mtimespec.tv_sec, st_mtimespec.tv_nsec)
        #endif
    }
}
