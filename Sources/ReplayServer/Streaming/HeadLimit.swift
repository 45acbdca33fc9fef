import HTTPTypes
import NIOHTTP1

/// The size of a request's head: its first line and header fields.
///
/// Archived pages can set cookies for all names below `replayhost.localhost`, until no request fits any more. The browser is
/// then told to delete the cookies of these names. It isn't for anything else: any site can make a URL too long, and cookies
/// of `localhost` belong to all programs there, whatever their port (RFC 6265 §8.5).
enum HeadLimit {
    /// The maximum size of a head in bytes.
    static let bytesMax = 80 << 10
    /// What is parsed, to see what makes a head too long. Browsers keep at most 180 cookies of 4 KB for a site.
    static let parsing: NIOHTTPDecoderLimitConfiguration = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        (limits.maxHeaderFieldSize, limits.maxHeaderListSize) = (1 << 20, 1 << 20)
        return limits
    }()
    /// What a head without cookies may need: a long URL, and another one as `Referer`.
    private static let restMax = 32 << 10

    /// Returns why a request is refused; `nil` if its head isn't too long.
    static func refusal(of head: HTTPRequestHead) -> ErrorResponse? {
        var (size, cookies) = (head.method.rawValue.utf8.count + head.uri.utf8.count, 0)
        for (name, value) in head.headers {
            let length = name.utf8.count + value.utf8.count + ": \r\n".utf8.count
            size += length
            if name.lowercased() == "cookie" { cookies += length }
        }
        guard size > bytesMax else { return nil }
        guard cookies > bytesMax - restMax else { return tooLong }
        guard isBelowBase(head.headers.first(name: "host") ?? "") else { return cookiesTooLong }
        return cookiesDeleted
    }

    /// Whether a host is `replayhost.localhost` or a name below it: a site of its own for cookies.
    private static func isBelowBase(_ host: String) -> Bool {
        let name = host.lowercased().prefix { $0 != ":" }
        return name == HostPolicy.base || name.hasSuffix(".\(HostPolicy.base)")
    }

    static let tooLong = ErrorResponse(
        .requestHeaderFieldsTooLarge, code: "head-too-long",
        "the URL and the header fields of this request are too long",
        hint: "go back, or open the library again")
    private static let cookiesTooLong = ErrorResponse(
        .requestHeaderFieldsTooLarge, code: "cookies-too-long",
        "the cookies that your browser has for this host are too long",
        hint: "delete the cookies of this host in the browser's settings; that logs you out of other programs there")
    private static let cookiesDeleted = ErrorResponse(
        .requestHeaderFieldsTooLarge, code: "cookies-deleted",
        "archived pages set too many cookies; the browser was told to delete them",
        hint: "reload this page", fields: [.clearSiteData: "\"cookies\""])
}
