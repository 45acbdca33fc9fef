import ArchiveStore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import WebArchive

/// Exports that wait to be downloaded. A new one replaces the oldest of several. Unused ones are deleted after a while.
final class StagedExports: Sendable {
    private struct Entry {
        let token: String
        let export: StagedExport
        var usedAt = ContinuousClock.now
    }

    private let staged = Mutex<[Entry]>([])
    private static let countMax = 4
    /// How long an export is kept after its last download began.
    private static let keptFor = Duration.seconds(15 * 60)

    func add(_ export: StagedExport) -> String {
        let token = UUID().uuidString.lowercased()
        // Files are deleted outside the lock.
        let replaced = staged.withLock { staged in
            staged.append(Entry(token: token, export: export))
            let replaced = Array(staged.dropLast(Self.countMax))
            staged.removeFirst(replaced.count)
            return replaced
        }
        return withExtendedLifetime(replaced) { token }
    }

    func export(_ token: String) -> StagedExport? {
        staged.withLock { staged in
            guard let index = staged.firstIndex(where: { $0.token == token }) else { return nil }
            staged[index].usedAt = .now
            return staged[index].export
        }
    }

    /// Deletes exports that weren't used since a time. Downloads in progress go on.
    func delete(unusedSince time: ContinuousClock.Instant) {
        let unused = staged.withLock { staged in
            let unused = staged.filter { $0.usedAt <= time }
            staged.removeAll { $0.usedAt <= time }
            return unused
        }
        withExtendedLifetime(unused) {}
    }

    /// Deletes unused exports until the task is cancelled.
    func deleteUnused() async {
        while (try? await Task.sleep(for: .seconds(30))) != nil { delete(unusedSince: .now - Self.keptFor) }
    }
}

/// `/api/archives/ID/exports`, `/api/collections/ID/exports` and `/api/exports/TOKEN`. Documented in `docs/json.md`.
struct ExportRoutes: Sendable {
    let site: Site

    var routes: RouteCollection<ConnectionContext> {
        RouteCollection(context: ConnectionContext.self)
            .get("exports/:token") { _, context in try await download(context.parameters.require("token")) }
            .add(middleware: ChangesNeedToken(site: site))
            .post("archives/:id/exports") { request, context in try await archive(request, context) }
            .post("collections/:id/exports") { _, context in try await collection(context) }
    }

    /// The body of a request for an export of an archive.
    private struct Order: Decodable, Sendable {
        enum Kind: String, Decodable { case repaired, page, files }

        let kind: Kind
        let url: String?
        let timestamp: String?
        let type: String?
        let urls: [String]?
    }

    private struct Prepared: Encodable {
        let url: String
        let name: String
        let size: UInt64
        let result: Exporter.Result
    }

    private func archive(_ request: Request, _ context: ConnectionContext) async throws -> Response {
        let order: Order = try await JSONBody.read(request)
        let type = try order.type.map(Self.type)
        guard order.kind != .page || order.url != nil else {
            throw ErrorResponse(.badRequest, code: "bad-body", "the key url is missing")
        }
        let time = order.timestamp.flatMap { CaptureTimestamp(endOf: $0) }
        guard order.timestamp == nil || time != nil else {
            throw ErrorResponse(.badRequest, code: "bad-body", "the timestamp needs 4 to 17 digits of YYYYMMDDhhmmss")
        }
        let id = try context.name()
        return try await prepare(context) { client in
            guard let known = ArchiveID(id), let archive = try site.store.archive(named: known.text) else {
                throw ErrorResponse.unknown("archive", id)
            }
            let exporter = exporter(for: client)
            switch order.kind {
            case .repaired:
                return try site.store.stageExport(named: Exporter.fileName(of: archive, "-repaired")) {
                    try exporter.repaired(archive, to: $0)
                }
            case .page:
                let request = ArchiveStore.CaptureRequest(url: CapturedURL.completed(order.url ?? ""), time: time)
                let page = try exporter.page(request, of: archive)
                return try site.store.stageExport(named: page.fileName) { try page.write(to: $0) }
            case .files:
                let selection = FileSelection(types: type.map { [$0] }, urls: order.urls)
                return try site.store.stageExport(named: "\(archive.id)-files.zip") { target in
                    Exporter.Result(fileCount: try exporter.files(of: archive, to: target, selection).count)
                }
            }
        }
    }

    private func collection(_ context: ConnectionContext) async throws -> Response {
        let id = try context.name()
        return try await prepare(context) { client in
            let collection = try site.collection(id: id)
            let exporter = exporter(for: client)
            return try site.store.stageExport(named: "\(collection.id).wacz") {
                try exporter.collection(collection, to: $0)
            }
        }
    }

    private static func type(_ name: String) throws -> MediaClass {
        guard let type = MediaClass(rawValue: name) else {
            throw ErrorResponse(
                .badRequest, code: "bad-body",
                "the type \"\(name.prefix(20))\" isn't known; use \(MediaClass.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        return type
    }

    /// Stops when the client disconnects.
    private func exporter(for client: ClientPresence) -> Exporter {
        Exporter(site.store) { _, _ in
            guard client.isThere else { throw StoreError(.interrupted, "the client disconnected") }
        }
    }

    private func prepare(
        _ context: ConnectionContext, _ body: @escaping @Sendable (ClientPresence) throws -> StagedExport
    ) async throws -> Response {
        let client = context.watchClient()
        let export = try await site.blocking.long { try body(client) }
        let url = "/api/exports/\(site.exports.add(export))"
        return try Responses.json(
            Prepared(url: url, name: export.name, size: export.size, result: export.result), status: .created,
            fields: [.location: url])
    }

    private func download(_ token: String) async throws -> Response {
        guard let export = site.exports.export(token) else {
            throw ErrorResponse(.notFound, code: "not-found", "this file isn't there any more", hint: "export it again")
        }
        let fields: HTTPFields = [
            .contentType: export.name.hasSuffix(".zip") ? "application/zip" : "application/wacz",
            .contentSecurityPolicy: SecurityHeaders.inert, .cacheControl: "no-store",
            .contentDisposition: Responses.attachment(export.name),
        ]
        let body = ResponseBody(contentLength: Int(clamping: export.size)) { [blocking = site.blocking] writer in
            var offset: UInt64 = 0
            while offset < export.size {
                let start = offset
                let bytes = try await blocking { try export.file.bytes(at: start, upTo: 256 << 10) }
                // Closes the connection before the end of the body.
                guard !bytes.isEmpty else { throw StoreError(.failed, "the export \"\(export.name)\" was cut short") }
                offset += UInt64(bytes.count)
                try await writer.write(ByteBuffer(bytes: bytes))
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: SecurityHeaders.common.adding(fields), body: body)
    }
}
