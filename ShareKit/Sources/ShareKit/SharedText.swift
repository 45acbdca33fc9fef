public import CaptureAPI
import Foundation

/// Text that an app shared, or that a person typed.
public enum SharedText {
    /// Returns the first URL in a text, without the punctuation after it.
    ///
    /// - Parameter allowedDomains: Hosts, with those below them; empty for all.
    /// - Throws: `ShareError` `noURL`, `urlTooLong`, `invalidURL` or `domainNotAllowed`.
    public static func url(in text: String, allowedDomains: [String] = []) throws(ShareError) -> WebURL {
        guard let start = text.range(of: "https?://", options: [.regularExpression, .caseInsensitive]) else {
            throw ShareError(.noURL)
        }
        guard let url = WebURL(firstIn: text) else {
            let word = text[start.lowerBound...].prefix { !$0.isWhitespace }
            throw ShareError(word.unicodeScalars.count > WebURL.lengths.upperBound ? .urlTooLong : .invalidURL)
        }
        guard allowedDomains.isEmpty || allowedDomains.contains(where: { url.isAt($0.lowercased()) }) else {
            throw ShareError(.domainNotAllowed, url.host)
        }
        return url
    }

    /// Whether a text has a second URL, after white space. A URL can contain another one.
    public static func hasSeveralURLs(_ text: String) -> Bool {
        text.range(of: "https?://\\S*\\s(.*\\W)?https?://", options: [.regularExpression, .caseInsensitive]) != nil
    }
}
