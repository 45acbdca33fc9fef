import ArchiveStore
import Foundation
import HTTPTypes
import Hummingbird
import Testing
import WebArchive

@testable import ReplayServer

struct ErrorResponseTests {
    private struct Surprise: Error {}

    // STYLE.md §3: never a Swift type name, never an absolute path of the server.
    @Test func hidesServerDetails() throws {
        let place = "/srv/store/incoming/copy-1"
        let errors: [(any Error, Int)] = [
            (StoreError(.notFound, "no such file or folder", place: place), 404),
            (StoreError(.ambiguous, "two", place: place), 409), (StoreError(.refused, "bad", place: place), 422),
            (StoreError(.unusable, "bad", place: place), 503), (StoreError(.locked, "bad", place: place), 503),
            (StoreError(.noSpace, "bad", place: place), 507), (StoreError(.failed, "bad", place: place), 500),
            (StoreError(.interrupted, "bad", place: place), 503),
            (StoreError(.archiveDamaged, "bad", place: place), 500),
            (StoreError.system(ENOSPC, doing: "writing", path: place), 507),
            (StoreError.system(EACCES, doing: "writing", path: place), 503),
            (StoreError.system(EIO, doing: "writing", path: place), 500),
            (WebArchiveError(code: .truncated, problem: "short", file: place, offset: 5), 422),
            (WebArchiveError(code: .io, problem: "short", file: place), 500), (Surprise(), 500),
            (CancellationError(), 503), (WebArchiveError(code: .cancelled, problem: "left", file: place), 503),
        ]
        for (error, status) in errors {
            let answer = ErrorResponse(error)
            #expect(answer.status.code == status, "\(error)")
            for text in [answer.what, answer.place ?? "", answer.hint ?? ""] {
                #expect(!text.contains("/srv"), "\(error)")
                #expect(!text.contains("Surprise") && !text.contains("Error"), "\(error)")
            }
        }
    }

    @Test func showsPlaceInArchive() {
        let error = WebArchiveError(code: .truncated, problem: "short", file: "crawl.wacz/archive/a.warc", offset: 5)
        let answer = ErrorResponse(error)
        #expect(answer.place == "crawl.wacz/archive/a.warc: byte 5")
        #expect(answer.what == "short")
    }
}
