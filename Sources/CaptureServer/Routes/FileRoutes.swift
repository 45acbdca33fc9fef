import ArchiveStore
import CaptureAPI
import Foundation
import HTTPTypes
import Hummingbird
import ReplayServer

/// Sends saved files and archives, by ranges.
struct FileRoutes: Sendable {
    let service: CaptureService

    /// `GET /download/{id}/file`: the media file or document.
    func file(_ call: CaptureRoutes.Call) async throws -> Response {
        try await file(service.row(call.path[1], for: call.caller), call.request)
    }

    private func file(_ row: DownloadRow, _ request: Request) async throws -> Response {
        guard let path = service.layout.file(row), let name = row.fileName else { throw Self.noFile }
        let type = row.mediaType ?? "application/octet-stream"
        let isShown = ["video/", "audio/", "image/"].contains(where: type.hasPrefix) || type == "application/pdf"
        // Browsers don't show PDF in a sandbox.
        let policy = type == "application/pdf" ? Self.documentPolicy : Self.mediaPolicy
        let response = try await send(
            path, request,
            [
                .contentType: type, .contentSecurityPolicy: policy,
                .contentDisposition: Self.disposition(isShown ? "inline" : "attachment", name),
            ])
        guard row.isPreview else { return response }
        return Self.sending(response, while: service.runner.previews.use(row.downloadID))
    }

    /// Counts a response as a look at a preview until it was sent: a player that is paused stops reading.
    private static func sending(_ response: Response, while presence: Previews.Presence) -> Response {
        let body = response.body
        var response = response
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            defer { withExtendedLifetime(presence) {} }
            try await body.write(writer)
        }
        return response
    }

    /// `GET /download/{id}/archive`: the WACZ.
    func archive(_ call: CaptureRoutes.Call) async throws -> Response {
        let row = try await service.row(call.path[1], for: call.caller)
        guard let sha256 = row.archiveSHA256,
            try await BlockingWork()({ [store = service.store] in try store.storedArchive(sha256: sha256) }) != nil
        else {
            throw RequestFailure(.notFound, "not_found", "the archive isn't in the library")
        }
        let name = ((row.fileName ?? row.downloadID) as NSString).deletingPathExtension + ".wacz"
        return try await send(
            service.store.layout.file(sha256), call.request,
            [
                .contentType: "application/wacz", .contentSecurityPolicy: SecurityHeaders.inert,
                .contentDisposition: Self.disposition("attachment", name),
            ])
    }

    /// `POST /download/{id}/ticket`: a URL that plays the file without a key, for players that can't send one.
    func ticket(_ call: CaptureRoutes.Call) async throws -> Response {
        let row = try await service.row(call.path[1], for: call.caller)
        let ticket = service.tickets.make(for: row.downloadID, by: call.caller.holder)
        return try JSONAnswer.response(
            FileTicket(
                url: "\(call.origin)/download/\(row.downloadID)/file?ticket=\(ticket.text)", expiresAt: ticket.end))
    }

    /// Returns the file of a request with a ticket; `nil` without one.
    ///
    /// - Parameter holders: Returns all who are admitted now.
    func withTicket(
        _ request: Request, _ path: [String], of holders: () async throws -> [Caller.Holder]
    ) async throws -> Response? {
        guard path.count == 3, path[0] == "download", path[2] == "file",
            let ticket = request.uri.queryParameters["ticket"].map(String.init)
        else { return nil }
        let id = path[1].lowercased()
        guard try await service.tickets.isValid(ticket, for: id, of: holders()) else {
            throw RequestFailure(
                .unauthorized, "unauthorized", "this link has expired, or its key was revoked; ask for another one")
        }
        guard let row = try await service.queue.row(id) else { throw RequestFailure.noDownload }
        return try await file(row, request)
    }

    private func send(_ path: String, _ request: Request, _ fields: HTTPFields) async throws -> Response {
        let file: FileResponse
        do {
            file = try await BlockingWork()({
                guard Folder.fileSize(path) != nil else { throw Self.noFile }
                let file = try Descriptor(path: path, flags: O_RDONLY)
                return try FileResponse(file, fields: fields)
            })
        } catch let error as StoreError where error.code == .notFound {
            throw Self.noFile
        }
        return file.response(to: request)
    }

    /// RFC 6266 §4, RFC 8187.
    private static func disposition(_ kind: String, _ name: String) -> String {
        let encoded = name.addingPercentEncoding(withAllowedCharacters: .unreserved) ?? "file"
        return "\(kind); filename*=UTF-8''\(encoded)"
    }

    private static let noFile = RequestFailure(
        .notFound, "not_found", "the file was moved or deleted, or only the archive was kept")

    /// Without its own origin, the browser's page for a medium couldn't load that medium. Scripts stay off.
    private static let mediaPolicy =
        "sandbox allow-same-origin; default-src 'none'; media-src 'self'; img-src 'self'; style-src 'unsafe-inline'"
    private static let documentPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
}
