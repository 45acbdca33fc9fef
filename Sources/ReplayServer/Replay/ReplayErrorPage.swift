import ArchiveStore
import Foundation
import HTTPTypes
import Hummingbird

/// The page that the engine shows instead of a capture that is missing or can't be read.
///
/// If a URL wasn't captured, the status is 404, which the engine and the viewer handle. For other errors it is 200 with
/// fields that make the engine report 502: otherwise it would show its own page, without the message.
enum ReplayErrorPage {
    static func response(to error: ErrorResponse, url: String, archiveTitle: String) -> Response {
        let isAbsent = error.status == .notFound
        let page = html(
            title: isAbsent ? "Not in this archive" : "This capture can't be read", error: error, url: url,
            archiveTitle: archiveTitle)
        var fields = error.fields
        if !isAbsent {
            fields[.redirectStatus] = "502"
            fields[.redirectStatusText] = "Bad Gateway"
        }
        return Responses.page(
            page, policy: SecurityHeaders.inert, status: isAbsent ? .notFound : .ok, fields: fields)
    }

    private static func html(title: String, error: ErrorResponse, url: String, archiveTitle: String) -> String {
        let paragraphs =
            error.code == "not-captured"
            ? "<p>This page isn't in “\(ErrorPage.escaped(archiveTitle))”. Nothing was loaded from the internet.</p>"
            : [error.what, error.hint].compactMap { $0 }.map { "<p>\(ErrorPage.sentence($0))</p>" }
                .joined(separator: "\n")
        return """
            <!doctype html>
            <html lang="en">
            <head><meta charset="utf-8"><title>\(title)</title></head>
            <body>
            <h1>\(title)</h1>
            <p><code>\(ErrorPage.escaped(String(url.prefix(2000))))</code></p>
            \(paragraphs)
            </body>
            </html>

            """
    }
}
