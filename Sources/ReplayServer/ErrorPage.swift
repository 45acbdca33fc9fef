import Crypto
import Foundation
import HTTPTypes
import Hummingbird

/// An error page for people who open a URL in a browser, with a link to the library.
enum ErrorPage {
    /// Whether a browser requests a document for a tab.
    static func isWanted(by request: Request) -> Bool {
        [.get, .head].contains(request.method) && !request.uri.path.hasPrefix("/api/")
            && request.headers[.accept]?.contains("text/html") == true
            && [nil, "document"].contains(request.headers[.secFetchDest])
    }

    /// - Parameter library: The library's origin.
    static func response(to error: ErrorResponse, library: String) -> Response {
        // The page links to the library anyway.
        let hint = error.hint.flatMap { $0.contains(library) ? nil : "<p>\(sentence($0))</p>\n" } ?? ""
        return page(error, hint: hint, href: "\(library)/", label: "Open the library")
    }

    /// Returns the page that asks a person whether to open a URL. It is the same whether something is there, so another site
    /// can't find that out. A click on its link is a request of this origin.
    ///
    /// - Parameter path: The path and query of the URL.
    static func asking(_ path: String) -> Response {
        let error = ErrorResponse(
            .forbidden, code: "forbidden", "another page wants to open a URL from your library",
            fields: [.referrerPolicy: SecurityHeaders.referrerOfRedirects])
        let shown = "<p><code>\(escaped(String(path.prefix(2000))))</code></p>\n"
        return page(error, hint: shown, href: path, label: "Open this URL")
    }

    private static func page(_ error: ErrorResponse, hint: String, href: String, label: String) -> Response {
        let page = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(error.status.code) – replayhost</title>
            <style>\(style)</style>
            </head>
            <body>
            <main>
            <h1>\(sentence(error.what))</h1>
            \(hint)<p><a href="\(escaped(href))">\(label)</a></p>
            <p class="status">\(error.status.code) \(escaped(error.status.reasonPhrase))</p>
            </main>
            </body>
            </html>

            """
        let policy = "\(SecurityHeaders.inert); style-src 'sha256-\(SHA256.hash(data: Data(style.utf8)).base64)'"
        return Responses.page(page, policy: policy, status: error.status, fields: error.fields)
    }

    private static let style = """

        :root { color-scheme: light dark; --paper: #faf8f4; --ink: #22211e; --quiet: #66625a; --accent: #1b5876; }
        @media (prefers-color-scheme: dark) {
            :root { --paper: #161718; --ink: #e8e5de; --quiet: #a6a299; --accent: #8bc4e2; }
        }
        body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, "Segoe UI", sans-serif; }
        main { max-width: 44rem; margin: 15vh auto 0; padding: 0 24px; overflow-wrap: anywhere; }
        h1 { font: 400 1.75rem/1.25 "Iowan Old Style", Palatino, Georgia, serif; }
        a { color: var(--accent); }
        .status { color: var(--quiet); font-size: 0.875rem; }

        """

    /// Returns an error's text as a sentence.
    static func sentence(_ text: String) -> String {
        let text = text.prefix(1).uppercased() + text.dropFirst()
        return escaped(".?!".contains(text.suffix(1)) ? text : "\(text).")
    }

    static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
    }
}
