import CaptureAPI
import Foundation
import WebArchive

/// When a recording ends, whatever the page still does; and what other tools may need.
package struct RecordingLimits: Sendable, Hashable, Codable {
    /// Seconds from the start of the browser.
    package var seconds: Double = 90
    /// The size of all bodies.
    package var bytes: UInt64 = 1_000_000_000
    /// The number of requests with a response.
    package var exchanges = 5000
    /// How much memory all processes of an attempt may have together, in bytes.
    package var memory: UInt64 = 1_000_000_000

    package init() {}

    /// A limit that was reached.
    package enum Reached: String, Sendable, Hashable, Codable {
        case time, bytes, exchanges, memory
    }

    /// Returns what a person reads about an incomplete page.
    package func sentence(_ reached: Reached) -> String {
        let what =
            switch reached {
            case .time: "\(Int(seconds)) seconds"
            case .bytes: "\(bytes / 1_000_000) MB"
            case .exchanges: "\(exchanges) requests"
            case .memory: "\(memory / 1_000_000) MB of memory"
            }
        return "The page isn't complete: it reached the limit of \(what)."
    }
}

/// A request and its response, as the browser sent and received them.
struct RecordedExchange: Sendable {
    /// Without a fragment.
    let url: String
    let method: String
    /// The browser's name for what it's for, in lower case: `document`, `image`, `xhr`.
    let resourceType: String
    let time: CaptureTimestamp
    /// The head of the request in the form of HTTP/1.1, up to and including the empty line.
    let request: [UInt8]
    let requestBody: [UInt8]
    let head: ResponseHead
    /// The path of the body; `nil` if it's empty.
    var body: String?
    /// Whether the browser has removed the content coding of the body.
    var isDecoded = true
    /// Why the body isn't complete. WARC 1.1 §5.13: `length`, `time` or `disconnect`.
    var truncated: String?
    var certificate: Network.Certificate?

    /// `http/1.1`, `h2`, and the version of TLS. WARC 1.1, `WARC-Protocol`.
    var protocols: [String] {
        let version = head.statusLine.hasPrefix("HTTP/2") ? "h2" : "http/1.1"
        guard let certificate else { return [version] }
        return [version, certificate.protocol.lowercased().replacingOccurrences(of: " ", with: "/")]
    }
}

/// What was requested by the page, also what failed. Source: browsertrix-crawler, `urn:pageinfo:`.
package struct PageInfo: Sendable, Encodable {
    package struct Resource: Sendable, Encodable {
        package var status: Int?
        package var mime: String?
        package var type: String?
        package var error: String?
    }

    package struct Counts: Sendable, Encodable {
        package var jsErrors = 0
    }

    package var pageid: String
    package var url: String
    package var ts: String
    package var urls: [String: Resource]
    package var counts = Counts()
}

/// A page with everything that the browser received for it. The files are in the session folder.
struct RecordedPage: Sendable {
    /// The URL that was requested.
    let url: String
    /// The URL after redirects.
    let finalURL: String
    let time: CaptureTimestamp
    let title: String
    /// The text of the page and its frames.
    let text: String
    /// A PNG image of the first 1920 by 1080 pixels; `nil` if the page didn't let itself be drawn.
    let view: String?
    /// A JPEG image of 640 by 360 pixels.
    let thumbnail: String?
    let exchanges: [RecordedExchange]
    let resources: [String: PageInfo.Resource]
    let errorCount: Int
    let limit: RecordingLimits.Reached?

    /// Says that its document, or files that it shows or runs, ended too early; `nil` if none did.
    var cutSentence: String? {
        let whole = Set(exchanges.filter { $0.truncated == nil }.map(\.url))
        let cut = exchanges.filter {
            $0.truncated != nil && Self.partTypes.contains($0.resourceType) && !whole.contains($0.url)
        }
        let document = finalURL.prefix { $0 != "#" }
        if cut.contains(where: { $0.resourceType == "document" && $0.url == document }) {
            return "The page isn't complete: its document ended too early."
        }
        guard let first = cut.first else { return nil }
        let others = Set(cut.map(\.url)).count - 1
        return
            "The page isn't complete: \(first.url.prefix(200))\(others > 0 ? " and \(others) more" : "") ended too early."
    }

    private static let partTypes: Set = ["document", "stylesheet", "script", "image", "font"]
}
