import ArchiveStore
import CaptureAPI
import Foundation
import Hummingbird
import ReplayServer

/// The configuration as a text, for the administrator.
struct ConfigurationRoutes: Sendable {
    let service: CaptureService

    private struct Answer: Encodable {
        /// The file's text; empty without a file. `nil` for a check of another text.
        var text: String?
        let faults: [ConfigurationFault]
        let warnings: [ConfigurationFault]
        /// Whether there is a version before, to return to; `nil` for a check.
        var previous: Bool?
    }

    private struct Body: Decodable {
        let text: String
    }

    /// `GET /config`
    func read(_ call: CaptureRoutes.Call) async throws -> Response {
        let file = try updates().file
        let answer = try await BlockingWork().long {
            let text = String(decoding: try file.text() ?? [], as: UTF8.self)
            let reading = file.read()
            return Answer(
                text: text, faults: reading.faults, warnings: reading.warnings,
                previous: Folder.exists(file.previousPath))
        }
        return try JSONAnswer.response(answer)
    }

    /// `PUT /config`: replaces the text if the new one is valid. The last version is kept.
    func change(_ call: CaptureRoutes.Call) async throws -> Response {
        try await change(call) { [request = call.request] file in
            let text = Array(try await DownloadRoutes.decoded(Body.self, request).text.utf8)
            return { _ = try file.write(text, replacing: file.stamp) }
        }
    }

    /// `POST /config/check`: tells what is wrong with a text, and changes nothing.
    func check(_ call: CaptureRoutes.Call) async throws -> Response {
        let file = try updates().file
        let text = Array(try await DownloadRoutes.decoded(Body.self, call.request).text.utf8)
        let reading = try await BlockingWork().long { file.check(text) }
        return try JSONAnswer.response(Answer(faults: reading.faults, warnings: reading.warnings))
    }

    /// `POST /config/open`: lets other computers connect.
    func open(_ call: CaptureRoutes.Call) async throws -> Response {
        try await change(call) { file in
            {
                let stamp = file.stamp
                let text = OpenedConfiguration.text(from: String(decoding: try file.text() ?? [], as: UTF8.self))
                guard let text else { throw Self.onlyByHand }
                _ = try file.write(Array(text.utf8), replacing: stamp)
            }
        }
    }

    /// `POST /config/restore`: returns to the version before the last change.
    func restore(_ call: CaptureRoutes.Call) async throws -> Response {
        try await change(call) { file in { _ = try file.restorePrevious() } }
    }

    private static let onlyByHand = RequestFailure(
        .conflict, "not_possible",
        "the text can't be changed automatically; set server.host to 0.0.0.0 and server.ssl.enabled to true in it")

    private func change(
        _ call: CaptureRoutes.Call,
        _ prepare: (ConfigurationFile) async throws -> @Sendable () throws -> Void
    ) async throws -> Response {
        let updates = try updates()
        let change = try await prepare(updates.file)
        do {
            try await BlockingWork().long(change)
        } catch let error as ConfigurationFile.Invalid {
            throw RequestFailure(
                invalid: error.faults.map { FieldProblem(["body", "text"], $0.text(file: "config.yaml")) })
        } catch let error as StoreError where error.code == .notFound || error.code == .changed {
            throw RequestFailure(.conflict, "conflict", error.what)
        }
        await updates.look()
        return try await read(call)
    }

    private func updates() throws -> ConfigurationUpdates {
        guard let updates = service.updates else { throw RequestFailure.nothingHere }
        return updates
    }
}
