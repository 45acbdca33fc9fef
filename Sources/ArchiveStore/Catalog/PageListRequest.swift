package import WebArchive

/// A request for a part of an archive's list of pages.
package struct PageListRequest: Sendable, Hashable {
    /// How pages are sorted. Pages that are equal in this stay in the archive's order.
    package enum Order: String, Sendable, Hashable, CaseIterable {
        /// As in the archive's page list.
        case archive
        /// By title, ignoring case; pages without a title by their URL.
        case title
        case newest
        case oldest
        case url
    }

    /// Words that each page's title or URL must contain.
    package var query = ""
    package var order = Order.archive
    /// Whether only the newest page of each URL is listed.
    package var collapsesURLs = false
    /// The earliest time of a page; pages without a time are left out.
    package var after: CaptureTimestamp?
    /// The time that all pages are before; pages without a time are left out.
    package var before: CaptureTimestamp?
    package var offset = 0
    /// The maximum number of pages.
    package var limit: Int

    package init(query: String = "", offset: Int = 0, limit: Int) {
        (self.query, self.offset, self.limit) = (query, offset, limit)
    }
}

/// A part of a list of pages, with the total number.
package struct PageList: Sendable, Encodable {
    package var total: Int
    package var pages: [ArchivePage]
}
