import ArchiveStore
import HTTPTypes
import Hummingbird
import WebArchive

/// `/api/archives…`, on the control origins. Documented in `docs/json.md`.
struct ArchiveRoutes: Sendable {
    let site: Site

    var routes: RouteCollection<ConnectionContext> {
        RouteCollection(context: ConnectionContext.self)
            .get { request, _ in try await archives(request.uri.queryParameters) }
            .get(":id") { _, context in try await archive(named: context.name()) }
            .get(":id/pages") { request, context in
                try await pages(of: context.name(), query: request.uri.queryParameters)
            }
            .get(":id/issues") { request, context in
                try await issues(of: context.name(), query: request.uri.queryParameters)
            }
            .get(":id/records") { request, context in try await records(request, context) }
            .get(":id/captures") { request, context in
                try await site.captures(request, context) { try .archive(find($0)) }
            }
            .get(":id/captures/histogram") { request, context in
                try await site.captureCounts(request, context) { try .archive(find($0)) }
            }
            .get(":id/parts") { request, context in
                try await site.parts(request, context) { try .archive(find($0)) }
            }
            .get(":id/thumbnail") { request, context in
                let name = try context.name()
                return try await site.thumbnail(of: site.blocking { try find(name) }, request)
            }
            .get(":id/counts") { _, context in
                try await site.found(context) { try site.store.resolver.counts(of: find($0), isWanted: $1) }
            }
            .get(":id/urls") { request, context in
                try await site.urls(request, context) { try .archive(find($0)) }
            }
            .get(":id/explain") { request, context in
                try await site.explanation(request, context) { try .archive(find($0)) }
            }
            .add(middleware: ChangesNeedToken(site: site))
            .post { request, _ in try await importUpload(request) }
            .post(":id/verify") { _, context in try await verify(context.name()) }
            .patch(":id") { request, context in try await edit(context.name(), request) }
            .delete(":id") { _, context in try await remove(context.name()) }
    }

    private func archives(_ query: Parameters) async throws -> Response {
        guard let wanted = try LibraryParameters(query) else { return try await allArchives() }
        if let format = try ListFormat(query) { return try await archivesFile(format, wanted) }
        let part = try await site.blocking.long {
            try site.store.library.archives(
                wanted.filter, sortedBy: wanted.order, offset: wanted.offset, limit: wanted.limit)
        }
        return try Responses.json(ListedArchives(total: part.total, archives: part.archives.map(site.resource)))
    }

    private func archivesFile(_ format: ListFormat, _ wanted: LibraryParameters) async throws -> Response {
        try await site.listFile(format, named: "archives", from: 0) { offset -> [LibraryItem]? in
            let part = try site.store.library.archives(
                wanted.filter, sortedBy: wanted.order, offset: offset, limit: 1000)
            offset += part.archives.count
            return part.archives.isEmpty ? nil : part.archives
        }
    }

    private func allArchives() async throws -> Response {
        try Responses.json(["archives": try await site.blocking.long { try site.store.archives() }.map(site.resource)])
    }

    private func archive(named name: String) async throws -> Response {
        let details = try await site.blocking.long { () throws -> ArchiveDetails in
            try site.store.details(of: try find(name))
        }
        return try Responses.json(site.resource(details))
    }

    private func pages(of id: String, query: Parameters) async throws -> Response {
        let wanted = try PageListRequest(query)
        let archive = try await site.blocking { try find(id) }
        if let format = try ListFormat(query) {
            return try await site.pagesFile(format, of: archive.id, wanted) { try site.store.pages(of: archive, $0) }
        }
        return try Responses.json(try await site.blocking { try site.store.pages(of: archive, wanted) })
    }

    private func issues(of id: String, query: Parameters) async throws -> Response {
        let format = try ListFormat(query) ?? .json
        let details = try await site.blocking.long { try site.store.details(of: find(id)) }
        return try await site.listFile(format, named: "\(details.archive.id)-issues", from: false) { isRead in
            defer { isRead = true }
            return isRead ? nil : details.findings
        }
    }

    private func records(_ request: Request, _ context: ConnectionContext) async throws -> Response {
        let query = request.uri.queryParameters
        let url = try ListParameters.url(in: query)
        let timestamp = query["ts"].map(String.init) ?? ""
        guard CaptureTimestamp(digits: timestamp) != nil else { throw ListParameters.invalidTime("ts", in: query) }
        let wanted = CaptureRecord.Extras(
            hashes: query["hashes"] == "true", digests: query["digests"] == "true", title: query["title"] == "true")
        return try await site.found(context) {
            let records = try site.store.resolver.records(
                ofURL: url, at: timestamp, in: find($0), wanted, isWanted: $1)
            return ["records": records]
        }
    }

    private func find(_ name: String) throws -> Archive {
        guard let archive = try site.store.archive(named: name) else {
            throw ErrorResponse(
                .notFound, code: "not-found", "no archive has the id or file name \"\(name.prefix(100))\"")
        }
        return archive
    }

    /// Imports the body of a request. It is written to disk while it arrives, and deleted if the client disconnects.
    private func importUpload(_ request: Request) async throws -> Response {
        guard ["application/wacz", "application/warc"].contains(request.headers[.contentType]) else {
            throw ErrorResponse(
                .unsupportedMediaType, code: "bad-type",
                "an upload must have the type application/wacz, or application/warc for WARC and ARC files",
                hint: "send Content-Type: application/wacz")
        }
        guard let length = request.headers[.contentLength].flatMap({ UInt64($0) }) else {
            throw ErrorResponse(.lengthRequired, code: "length-required", "an upload must have a Content-Length")
        }
        let name = request.uri.queryParameters["name"].map(String.init) ?? "upload.wacz"
        let upload = try await site.blocking.long {
            try site.store.jobs.startUpload(name: name, source: "browser", size: length)
        }
        do {
            for try await buffer in request.body {
                try await site.blocking { try buffer.withUnsafeReadableBytes { try upload.write($0) } }
            }
        } catch let error where !(error is FailedUpload) {
            // The connection failed: `finish` reports that the upload is incomplete.
        }
        switch try await site.blocking.long({ try upload.finish() }) {
        case .archive(let outcome): return try imported(outcome)
        case .multiWACZ(let outcome): return try imported(outcome)
        }
    }

    private func imported(_ outcome: MultiWACZOutcome) throws -> Response {
        struct Imported: Encodable {
            let collection: String
            let archives: [Resource<ArchiveDetails>]
            let duplicate: Bool
            let remarks: [String]
        }
        let archives = outcome.members.map { site.resource($0.details) }
        return try Responses.json(
            Imported(
                collection: outcome.collection.id.text, archives: archives, duplicate: outcome.isDuplicate,
                remarks: outcome.remarks),
            status: outcome.isDuplicate ? .ok : .created)
    }

    private func imported(_ outcome: ImportOutcome) throws -> Response {
        struct Imported: Encodable {
            let archive: Resource<ArchiveDetails>
            let duplicate: Bool
        }
        return try Responses.json(
            Imported(archive: site.resource(outcome.details), duplicate: outcome.isDuplicate),
            status: outcome.isDuplicate ? .ok : .created)
    }

    /// Changes title, tags, notes.
    private func edit(_ id: String, _ request: Request) async throws -> Response {
        let metadata: ArchiveMetadata = try await JSONBody.read(request)
        let details = try await site.blocking.long {
            try site.store.details(of: site.store.edit(try archive(id: id).id, metadata))
        }
        return try Responses.json(site.resource(details))
    }

    /// Queues a verification.
    private func verify(_ id: String) async throws -> Response {
        let job = try await site.blocking.long { try site.store.jobs.queueVerification(of: try archive(id: id)) }
        return try Responses.json(["job": job], status: .accepted)
    }

    private func remove(_ id: String) async throws -> Response {
        try await site.blocking.long { try site.store.remove(try archive(id: id).id) }
        return Responses.empty(.noContent)
    }

    /// Returns the archive with an id. Changes aren't possible by file name.
    private func archive(id: String) throws -> Archive {
        guard let known = ArchiveID(id), let archive = try site.store.archive(id: known) else {
            throw ErrorResponse.unknown("archive", id)
        }
        return archive
    }
}
