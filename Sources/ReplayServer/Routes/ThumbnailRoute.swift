import ArchiveStore
import HTTPTypes
import Hummingbird

extension Site {
    /// Responds with the picture of an archive. Its type comes from its bytes and isn't sniffed, and nothing in it can
    /// run.
    func thumbnail(of archive: Archive, _ request: Request) async throws -> Response {
        let tag = ETag(strong: archive.key)
        let fields: HTTPFields = [.eTag: tag.description, .cacheControl: "no-cache"]
        guard try await blocking({ try store.thumbnails.mayHaveThumbnail(archive) }) else { throw Self.noThumbnail }
        let conditions = ConditionalRequest(ifNoneMatch: request.headers[.ifNoneMatch])
        if conditions.answer(tag: tag, modifiedAt: 0, size: 0, isHead: true) == .notModified {
            return Responses.empty(
                .notModified, fields: fields.adding([.contentSecurityPolicy: SecurityHeaders.image]))
        }
        guard let thumbnail = try await blocking.long({ try store.thumbnails.thumbnail(of: archive) }) else {
            throw Self.noThumbnail
        }
        return Responses.bytes(
            thumbnail.bytes, type: thumbnail.type, status: .ok, policy: SecurityHeaders.image, fields: fields)
    }

    private static let noThumbnail = ErrorResponse(
        .notFound, code: "no-thumbnail", "this archive has no picture of its own")
}
