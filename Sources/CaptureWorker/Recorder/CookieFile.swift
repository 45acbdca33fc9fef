import Foundation

/// A cookies.txt in the format of Netscape.
package enum CookieFile {
    /// Returns the cookies of the user; `nil` without a cookies.txt.
    static func cookies(of session: WorkerSession) -> [Network.Cookie]? {
        guard session.order.hasCookies,
            let data = FileManager.default.contents(atPath: "\(session.folder)/\(SessionFile.cookies)")
        else { return nil }
        return cookies(in: String(decoding: data, as: UTF8.self))
    }

    private static let cookiesMax = 3000

    /// Parses lines of seven parts: domain, whether it includes subdomains, path, secure, expiry, name, value.
    static func cookies(in text: String) -> [Network.Cookie] {
        text.split(whereSeparator: \.isNewline).lazy.compactMap { line -> Network.Cookie? in
            let isHTTPOnly = line.hasPrefix("#HttpOnly_")
            guard isHTTPOnly || !line.hasPrefix("#") else { return nil }
            let parts = (isHTTPOnly ? line.dropFirst("#HttpOnly_".count) : line).split(
                separator: "\t", omittingEmptySubsequences: false
            ).map(String.init)
            guard parts.count == 7, !parts[0].isEmpty else { return nil }
            let expires = Double(parts[4]).flatMap { $0 > 0 ? $0 : nil }
            return Network.Cookie(
                name: parts[5], value: parts[6], domain: parts[0], path: parts[2].isEmpty ? "/" : parts[2],
                secure: parts[3].uppercased() == "TRUE", httpOnly: isHTTPOnly, expires: expires)
        }.prefix(cookiesMax).map { $0 }
    }
}
