import ArchiveStore
import HTTPTypes
import Hummingbird
import WebArchive

extension Site {
    func cdx(
        _ request: Request, archives: [Archive], scope: CaptureAddress.Scope, at place: CaptureRoutes.Place
    ) async throws -> Response {
        throw ErrorResponse.notFound
    }

    func timeMap(
        _ memento: Memento, form: String, request: Request, archives: [Archive], at place: CaptureRoutes.Place
    ) async throws -> Response {
        throw ErrorResponse.notFound
    }
}
