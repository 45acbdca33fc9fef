import ArchiveStore
import CaptureAPI
import Foundation

/// Fetches a document with curl, one redirect after the other, and keeps what was sent and received.
struct DocumentAttempt {
    let session: WorkerSession
    /// What a browser met that isn't a page; `nil` without.
    var browser: NotAPage?

    /// A request and its response.
    struct Exchange: Sendable {
        let url: String
        /// The request as it was sent, up to and including the empty line.
        let request: [UInt8]
        let head: ResponseHead
        /// The path of the body, without transfer coding.
        let body: String
        let ipAddress: String?
        /// Whether a limit ended the body.
        var isCut = false
    }

    /// A document or another file, with the redirects that led to it.
    struct Files {
        /// Who fetched it.
        enum Source {
            case curl([Exchange])
            case browser([RecordedExchange])
        }
        let source: Source
        /// After redirects.
        let url: String
        let head: ResponseHead
        /// The path of the body.
        let path: String
        /// `unknown` for an ordinary file.
        let genre: Genre
        let mediaType: String
    }

    /// What a URL turned out to be.
    enum Outcome {
        case document(Files)
        /// Something else than a document, of this media type. The body wasn't read.
        case other(mediaType: String)
        /// The site may answer a browser in another way: it refuses other programs, or redirects until it gets its cookie back.
        case onlyForBrowsers(ToolFailure)
    }

    private static let redirectsMax = 10

    /// Fetches the URL.
    ///
    /// - Throws: `ToolFailure`.
    func run() async throws -> Outcome {
        if let outcome = try received() { return outcome }
        guard let curl = session.order.tools.curl else {
            throw ToolFailure.missing(.curl)
        }
        var exchanges: [Exchange] = []
        var url = browser?.url ?? session.order.url
        while exchanges.count <= Self.redirectsMax {
            guard let current = WebURL(url) else {
                throw ToolFailure(.unsupported, "a redirect leads to a URL that can't be saved")
            }
            let exchange = try await fetch(url, number: exchanges.count, with: curl)
            exchanges.append(exchange)
            if let location = exchange.head.location {
                url = try Self.resolve(location, at: url)
                session.log.add("redirected to \(url)")
                continue
            }
            do {
                try exchange.head.checkStatus()
            } catch let failure as ToolFailure where exchange.head.mayBeOnlyForBrowsers {
                return .onlyForBrowsers(failure)
            }
            let type = exchange.head.mediaType
            guard let genre = genre(of: exchange.head, at: current) else { return .other(mediaType: type) }
            try check(exchange.body, genre, type)
            return .document(
                Files(
                    source: .curl(exchanges), url: url, head: exchange.head, path: exchange.body, genre: genre,
                    mediaType: type))
        }
        return .onlyForBrowsers(ToolFailure(.network, "the site redirects more than \(Self.redirectsMax) times"))
    }

    /// Returns what the browser has received, so that the site isn't asked twice; `nil` if that isn't enough.
    private func received() throws -> Outcome? {
        guard let browser, let url = WebURL(browser.url) else { return nil }
        let type = browser.head.mediaType
        guard let genre = genre(of: browser.head, at: url) else { return .other(mediaType: type) }
        guard let exchanges = browser.exchanges, let path = exchanges.last?.body else { return nil }
        try check(path, genre, type)
        return .document(
            Files(
                source: .browser(exchanges), url: browser.url, head: browser.head, path: path, genre: genre,
                mediaType: type))
    }

    /// Sends one request. The body of a page isn't read.
    private func fetch(_ url: String, number: Int, with curl: String) async throws -> Exchange {
        // Another host gets no cookies.
        let isSame = browser.map { WebURL($0.url)?.host == WebURL(url)?.host } ?? false
        let fields = isSame ? browser?.fields : browser?.fields.filter { $0.key != "Cookie" }
        return try await CurlRun(session: session, curl: curl, fields: fields).fetch(url, name: "\(number)") { head in
            guard head.location == nil, head.status == 200, let url = WebURL(url) else { return false }
            return genre(of: head, at: url) == nil
        }
    }

    /// Returns the genre of a response, `unknown` for an ordinary file; `nil` if it's something else, whose body isn't needed.
    private func genre(of head: ResponseHead, at url: WebURL) -> Genre? {
        Genre(of: head, at: url) ?? (OrdinaryFile.isOne(head, at: url, session.order.options) ? .unknown : nil)
    }

    /// Whether the body is what its type says: error pages are often sent as 200.
    private func check(_ path: String, _ genre: Genre, _ type: String) throws {
        let file = try Descriptor(path: path, flags: O_RDONLY)
        let start = try file.bytes(at: 0, upTo: 1024)
        guard !start.isEmpty else { throw ToolFailure(.noFile, "the site sent an empty file") }
        let text = String(decoding: start, as: UTF8.self)
        let isPage = text.lowercased().drop(while: \.isWhitespace).hasPrefix("<!doctype html")
        switch genre {
        case .pdf where !text.contains("%PDF-"): throw ToolFailure(.damaged, "the file isn't a PDF")
        case .unknown where isPage && !type.hasPrefix("text/"):
            throw ToolFailure(.damaged, "the site sent a web page labelled \(type)")
        case .unknown, .pdf: return
        default: if isPage { throw ToolFailure(.damaged, "the file isn't an e-book") }
        }
    }

    /// Resolves a `Location`. RFC 3986 §5.2.
    private static func resolve(_ location: String, at base: String) throws -> String {
        guard let url = URL(string: location, relativeTo: URL(string: base)) else {
            throw ToolFailure(.network, "the site redirects to an invalid URL")
        }
        return url.absoluteString
    }
}

extension Genre {
    /// Returns the genre of a response; `nil` if it isn't a document.
    ///
    /// A URL that ends in `.pdf` is believed if the response has no more than a general type.
    fileprivate init?(of head: ResponseHead, at url: WebURL) {
        if let genre = Genre(mediaType: head.mediaType) {
            self = genre
            return
        }
        let genre = Genre(of: url)
        let general = [
            "", "application/octet-stream", "binary/octet-stream", "application/zip", "application/force-download",
        ]
        guard genre.isDocument, general.contains(head.mediaType) else { return nil }
        self = genre
    }
}

extension ResponseHead {
    /// Whether the status is one with which sites refuse what isn't a browser. With `Retry-After`, it's a real limit.
    fileprivate var mayBeOnlyForBrowsers: Bool {
        [400, 403, 405, 406, 429, 503].contains(status) && self["retry-after"] == nil
    }
}
