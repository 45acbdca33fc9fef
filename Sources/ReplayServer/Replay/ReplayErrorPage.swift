import ArchiveStore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// What the engine gets when there is no capture to show: a page that says why, in the place of the archived one.
///
/// Only "not captured" is a 404, from which the engine and the viewer know it. What was captured and cannot be read is a 200 that
/// tells the engine to make a 502 of it: of other errors it would show a page of its own that explains nothing.
enum ReplayErrorPage {
    static func response(to words: ErrorResponse, url: String, archiveTitle: String) -> Response {
        let isAbsent = words.status == .notFound
        let page = html(
            title: isAbsent ? "Not in this archive" : "This capture cannot be read", words: words, url: url,
            archiveTitle: archiveTitle)
        var fields = SecurityHeaders.common.adding([
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
            .contentSecurityPolicy: SecurityHeaders.inert,
        ])
        for field in words.fields { fields[field.name] = field.value }
        if !isAbsent {
            fields[.redirectStatus] = "502"
            fields[.redirectStatusText] = "Bad Gateway"
        }
        return Response(
            status: isAbsent ? .notFound : .ok, headers: fields,
            body: ResponseBody(byteBuffer: ByteBuffer(string: page)))
    }

    private static func html(title: String, words: ErrorResponse, url: String, archiveTitle: String) -> String {
        let lines = [words.code == "not-captured" ? "This address was not captured." : words.what + ".", words.hint]
        let paragraphs = lines.compactMap { $0 }.map { "<p>\(ErrorPage.escaped($0))</p>" }.joined(separator: "\n")
        return """
            <!doctype html>
            <html lang="en">
            <head><meta charset="utf-8"><title>\(title)</title></head>
            <body>
            <h1>\(title)</h1>
            <p><code>\(ErrorPage.escaped(String(url.prefix(2000))))</code></p>
            \(words.code == "not-captured" ? "<p>This address was not captured in \(ErrorPage.escaped(archiveTitle)).</p>" : paragraphs)
            </body>
            </html>

            """
    }
}
