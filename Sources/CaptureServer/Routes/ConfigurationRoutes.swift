import ArchiveStore
import CaptureAPI
import Foundation
import Hummingbird
import ReplayServer

/// The configuration as a text, for the administrator.
struct ConfigurationRoutes: Sendable {
    let service: CaptureService

    private struct Answer: Encodable {
        /// The file's text; empty without a file.
        let text: String
        let faults: [ConfigurationFault]
        let warnings: [ConfigurationFault]
    }

    /// `GET /config`
    func read(_ call: CaptureRoutes.Call) async throws -> Response {
        try call.caller.requireAdministrator()
        let file = try updates().file
        let answer = try await BlockingWork().long {
            let text = String(decoding: try file.text() ?? [], as: UTF8.self)
            let reading = file.read()
            return Answer(text: text, faults: reading.faults, warnings: reading.warnings)
        }
        return try JSONAnswer.response(answer)
    }

    /// `PUT /config`: replaces the text if the new one is valid. The last version is kept.
    func change(_ call: CaptureRoutes.Call) async throws -> Response {
        try call.caller.requireAdministrator()
        let updates = try updates()
        struct Body: Decodable {
            let text: String
        }
        let body = try await DownloadRoutes.decoded(Body.self, call.request)
        do {
            let file = updates.file
            _ = try await BlockingWork().long { try file.write(Array(body.text.utf8), replacing: file.stamp) }
        } catch let error as ConfigurationFile.Invalid {
            throw RequestFailure(
                invalid: error.faults.map { FieldProblem(["body", "text"], $0.text(file: "config.yaml")) })
        }
        await updates.look()
        return try await read(call)
    }

    private func updates() throws -> ConfigurationUpdates {
        guard let updates = service.updates else { throw RequestFailure.nothingHere }
        return updates
    }
}
