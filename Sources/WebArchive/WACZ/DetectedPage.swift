/// Which captures are pages, in archives without a page list: HTML documents and PDFs with status 200, or none (those
/// stored as `resource`, or sent without one), that weren't loaded into another page, as far as the records tell.
package enum DetectedPage {
    /// The start of the URL of a record about a page, which Browsertrix writes for each one.
    package static let recordPrefix = "urn:pageinfo:"

    /// Whether a capture can be a page.
    package static func isDocument(_ entry: CDXJEntry) -> Bool {
        guard (entry.status ?? 200) == 200, (entry.method ?? "GET") == "GET", let mime = entry.mime?.lowercased() else {
            return false
        }
        return (DocumentText.htmlTypes.contains(mime) || mime == "application/pdf") && entry.url.hasPrefix("http")
    }

    /// Whether a document was loaded into another page.
    ///
    /// - Parameters:
    ///   - resourceType: `WARC-Resource-Type` of its record, which decides if there is one.
    ///   - destination: `Sec-Fetch-Dest` of its request.
    package static func isPart(resourceType: String?, destination: String?) -> Bool {
        if let type = resourceType?.lowercased() { return type != "document" && type != "main" }
        return destination.map { $0.lowercased() != "document" } ?? false
    }
}
