import ArchiveStore
import CaptureAPI
import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ReplayServer

/// Adds, lists and changes downloads.
struct DownloadRoutes: Sendable {
    let service: CaptureService

    private var queue: DownloadQueue { service.queue }

    /// `POST /download`
    func add(_ call: CaptureRoutes.Call) async throws -> Response {
        let request: DownloadRequest
        do {
            request = try DownloadRequest(json: try await Self.body(call.request))
        } catch let refusal as DownloadRequest.Refusal {
            throw Self.failure(refusal)
        }
        do {
            return try await add(request, key: try Self.key(call.request), call)
        } catch var failure as RequestFailure {
            failure.isForOlderClient = request.isFromOlderClient
            throw failure
        }
    }

    private func add(_ request: DownloadRequest, key: String?, _ call: CaptureRoutes.Call) async throws -> Response {
        let caller = call.caller
        // Others can't make the queue grow without a limit.
        let keepsForLater = call.hasFlag("later") && caller.isLocal && caller.limitID.isEmpty
        var request = request
        if let user = caller.user { request.username = user }
        try checkPlatform(of: request)
        try await checkCollection(of: request.options)
        let row: DownloadRow
        switch try await queue.accept(request, key: key, client: caller.limitID, keepsForLater: keepsForLater) {
        case .added(let added, let isNewUser):
            row = added
            if isNewUser { service.logger.info("User created", metadata: ["user": "\(row.username)"]) }
            service.logger.info("Download queued successfully", metadata: ["download": "\(row.downloadID)"])
            service.runner.wake()
        case .known(let known): row = known
        case .conflict:
            throw RequestFailure(.conflict, "conflict", "this Idempotency-Key was used for another request")
        case .removed:
            throw RequestFailure(
                .conflict, "conflict", "the download of this Idempotency-Key was removed from the list")
        case .tooMany(let seconds): throw tooMany(seconds)
        }
        if row.isPreview { service.runner.previews.add(row.downloadID, for: caller.limitID) }
        let receipt = DownloadReceipt(
            of: try await service.download(row, for: caller), savedBefore: try await queue.lastSaved(row),
            isForOlderClient: request.isFromOlderClient, at: Date())
        return try JSONAnswer.response(receipt, status: .created)
    }

    private func tooMany(_ seconds: Int) -> RequestFailure {
        RequestFailure(
            .tooManyRequests, "rate_limited",
            "more than \(queue.rules.downloadsPerHour) downloads in an hour; try again later",
            fields: [.retryAfter: "\(seconds)"])
    }

    /// Refuses what `downloads.allowed_platforms` doesn't name, by the URL alone.
    private func checkPlatform(of request: DownloadRequest) throws {
        let allowed = service.network.configuration.downloads.allowedPlatforms
        guard !allowed.isEmpty, !allowed.contains(Genre(of: request.url)) else { return }
        var failure = RequestFailure(
            .unprocessableContent, "invalid_parameter",
            "Unsupported platform; this server saves \(allowed.map(\.rawValue).joined(separator: ", ")) only")
        failure.reason = "unsupported_platform"
        throw failure
    }

    private func checkCollection(of options: DownloadOptions) async throws {
        guard let id = options.collection else { return }
        let problem = try await BlockingWork().long { [store = service.store] in
            try WantedCollection.problem(id, in: store)
        }
        if let problem { throw RequestFailure(invalid: [problem]) }
    }

    /// `GET /status/{id}`
    func status(_ call: CaptureRoutes.Call) async throws -> Response { try await status(call.path[1], call.caller) }

    private func status(_ id: String, _ caller: Caller) async throws -> Response {
        try JSONAnswer.response(try await service.download(service.row(id, for: caller), for: caller))
    }

    /// `GET /history`
    func history(_ call: CaptureRoutes.Call) async throws -> Response {
        let query = try HistoryQuery(call.parameters, only: call.caller.user)
        let (found, revision) = try await queue.database.read { [user = call.caller.user] in
            (try query.run($0), try DownloadQueue.revision($0, of: user))
        }
        service.runner.previews.note(found.rows.map(\.downloadID), by: call.caller.limitID)
        return try JSONAnswer.response(
            try await service.downloads(found.rows, for: call.caller),
            fields: [.totalCount: "\(found.total)", .revision: "\(revision)"])
    }

    /// `GET /download/{id}/log`
    func log(_ call: CaptureRoutes.Call) async throws -> Response {
        let query = try HistoryQuery(call.parameters.merging(["limit": call.parameters["limit"] ?? "20"]) { $1 })
        let row = try await service.row(call.path[1], for: call.caller)
        let lines = try await BlockingWork()({ [logs = service.logs] in
            try logs.page(row, offset: query.offset, limit: query.limit)
        })
        return try JSONAnswer.response(lines)
    }

    /// `POST /download/{id}/cancel`
    func cancel(_ call: CaptureRoutes.Call) async throws -> Response {
        let row = try await service.row(call.path[1], for: call.caller)
        guard try await service.runner.cancel(row) else {
            throw RequestFailure(
                .conflict, "not_possible", "the download has ended already, or is being added to the library")
        }
        return try await status(row.downloadID, call.caller)
    }

    /// `POST /download/{id}/preview/close`: stops a preview, or deletes its file. Can be repeated.
    func closePreview(_ call: CaptureRoutes.Call) async throws -> Response {
        let row = try await service.row(call.path[1], for: call.caller)
        guard row.isPreview else { throw RequestFailure(.conflict, "not_possible", "this download isn't a preview") }
        try await service.runner.closePreview(row.downloadID)
        return try await status(row.downloadID, call.caller)
    }

    /// `POST /download/{id}/retry`
    func retry(_ call: CaptureRoutes.Call) async throws -> Response {
        let options: DownloadOptions?
        do {
            options = try DownloadRequest.retryOptions(json: try await Self.body(call.request, isOptional: true))
        } catch let refusal as DownloadRequest.Refusal {
            throw Self.failure(refusal)
        }
        let id = try await service.row(call.path[1], for: call.caller).downloadID
        if let options { try await checkCollection(of: options) }
        switch try await queue.retry(id, options: options, client: call.caller.limitID) {
        case .queued:
            if try await queue.row(id)?.isPreview == true {
                service.runner.previews.add(id, for: call.caller.limitID)
            }
        case .notPossible:
            throw RequestFailure(
                .conflict, "not_possible", "only a download that failed or was cancelled can be retried")
        case .tooMany(let seconds): throw tooMany(seconds)
        }
        service.runner.wake()
        return try await status(id, call.caller)
    }

    /// `POST /download/{id}/check`: replays the archive once more. The response comes when that is done.
    func check(_ call: CaptureRoutes.Call) async throws -> Response {
        let row = try await service.row(call.path[1], for: call.caller)
        let file = try await BlockingWork().long { [service] in
            try row.archiveSHA256.flatMap { try service.store.storedArchive(sha256: $0) }.flatMap { archive in
                archive.sha256.map { (id: archive.id, path: service.store.layout.file($0)) }
            }
        }
        guard row.downloadState == .completed, let file else {
            throw RequestFailure(.conflict, "not_possible", "the download has no archive in the library")
        }
        guard service.settings.assets != nil else {
            throw RequestFailure(.conflict, "not_possible", "this server doesn't replay archives")
        }
        let sentence = try await service.checks.run { [service] in
            try await service.runner.replay(row, file.path)
        }
        try await queue.setReplayCheck(row.downloadID, sentence)
        try await BlockingWork().long { [service] in try service.store.setReplayCheck(file.id, sentence) }
        return try await status(row.downloadID, call.caller)
    }

    /// `DELETE /history/{id}`: removes a download from the list; with `archive` and `file` also what was saved.
    func delete(_ call: CaptureRoutes.Call) async throws -> Response {
        let row = try await service.row(call.path[1], for: call.caller)
        let isRunning = RequestFailure(.conflict, "not_possible", "cancel the download first")
        guard ![.started, .downloading].contains(row.downloadState) else { throw isRunning }
        guard try await !remove([row], call).isEmpty else { throw isRunning }
        return try JSONAnswer.response(DownloadAcknowledgement(downloadID: row.downloadID))
    }

    /// `DELETE /history`: removes what `GET /history` would list on all of its pages, except downloads that run.
    func deleteRange(_ call: CaptureRoutes.Call) async throws -> Response {
        let query = try HistoryQuery(call.parameters, only: call.caller.user)
        guard query.since != nil || query.until != nil else {
            throw FieldProblem(["query", "since"], "Give since or until", type: "missing")
        }
        // Lists ignore the name of another user. What wasn't meant isn't removed.
        if let user = call.caller.user, let named = call.parameters["username"], named.lowercased() != user.text {
            return try JSONAnswer.response(HistoryRemoval(removed: 0, left: 0))
        }
        var removed = 0
        var last: Int64?
        while true {
            let rows = try await queue.database.read { [last] in try query.removable($0, before: last) }
            guard let end = rows.last else { break }
            last = end.id
            removed += try await remove(rows, call).count
        }
        let left = try await queue.database.read { try query.count($0) }
        return try JSONAnswer.response(HistoryRemoval(removed: removed, left: left))
    }

    /// Removes downloads; with `archive` and `file` also what was saved.
    ///
    /// - Returns: The rows of those that were removed. A download that runs isn't.
    private func remove(_ rows: [DownloadRow], _ call: CaptureRoutes.Call) async throws -> [DownloadRow] {
        let (removesArchive, removesFile) = (call.hasFlag("archive"), call.hasFlag("file"))
        // The rows last: as long as they're there, a person sees that something is left, and can repeat this.
        try await BlockingWork().long { [service] in
            for row in rows {
                if removesFile, let path = service.layout.file(row) { try Folder.delete(path) }
                if removesArchive, let archive = row.archiveID.flatMap({ ArchiveID($0) }) {
                    try service.store.remove(archive)
                }
            }
        }
        let deleted = try await queue.delete(rows.map(\.downloadID))
        for row in deleted { await service.runner.handOver.sweep(row) }
        try await BlockingWork().long { [service] in
            for row in deleted { try service.logs.delete(row) }
        }
        return deleted
    }

    // Requests

    /// Reads a JSON body. The content type is required, because other sites can't send it without a CORS preflight.
    private static func body(
        _ request: Request, isOptional: Bool = false, bytesMax: Int = bodyBytesMax
    ) async throws -> Data {
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: bytesMax)
        } catch is NIOTooManyBytesError {
            throw RequestFailure(.contentTooLarge, "too_large", "the body is larger than \(bytesMax) bytes")
        }
        if isOptional, body.readableBytes == 0 { return Data() }
        let type = (request.headers[.contentType] ?? "").prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        guard type.lowercased() == "application/json" else {
            throw RequestFailure(
                .unsupportedMediaType, "unsupported_media_type", "send the body as Content-Type: application/json")
        }
        return Data(body.readableBytesView)
    }

    /// Reads a JSON body of a type.
    static func decoded<Value: Decodable>(
        _ type: Value.Type, _ request: Request, bytesMax: Int = bodyBytesMax
    ) async throws -> Value {
        let body = try await body(request, bytesMax: bytesMax)
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch is DecodingError {
            throw RequestFailure.notJSON
        }
    }

    /// Returns `Idempotency-Key`: 1 to 200 visible ASCII characters.
    private static func key(_ request: Request) throws -> String? {
        guard let key = request.headers[.idempotencyKey] else { return nil }
        guard (1...200).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw RequestFailure(
                invalid: [
                    FieldProblem(["header", "Idempotency-Key"], "Input should be 1 to 200 visible ASCII characters")
                ])
        }
        return key
    }

    private static func failure(_ refusal: DownloadRequest.Refusal) -> RequestFailure {
        switch refusal {
        case .notJSON: return .notJSON
        case .invalid(let problems, let isFromOlderClient):
            var failure = RequestFailure(invalid: problems)
            failure.isForOlderClient = isFromOlderClient
            return failure
        }
    }

    static let bodyBytesMax = 64 << 10
}

extension HTTPField.Name {
    static let totalCount = HTTPField.Name.name("X-Total-Count")
    /// The revision of the listed downloads, after which events tell of changes.
    static let revision = HTTPField.Name.name("X-Revision")
    static let idempotencyKey = HTTPField.Name.name("Idempotency-Key")
}
