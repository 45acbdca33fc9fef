import GRDB
package import WebArchive

/// A page that was found. All captures of a URL are one hit.
package struct SearchHit: Sendable, Hashable, Encodable {
    package let archive: ArchiveID
    package let archiveTitle: String
    /// The name of the archive's file at its import.
    package let originalName: String
    package let url: String
    /// The time of the capture to open, 14 digits; empty if unknown.
    package let timestamp: String
    /// Empty if the page has none.
    package let title: String
    package let snippet: Snippet
    /// `html`, `pdf`, `text` or `other`.
    package let type: String
    /// The primary language subtag that the page declares; `nil` if it declares none.
    package let language: String?
    /// The number of captures of the URL that the search allows.
    package let captures: Int
    /// The years of these captures.
    package let years: [Int]
    /// What is known about the archive's file; see `Archive.verificationCode`.
    package let verification: VerificationCode?
    /// The last verification of the archive; `nil` before the first.
    package let verificationSummary: VerificationSummary?
    /// The other archives that have a capture of the URL at the same time with the same text, those with the best copies
    /// first; `nil` if there are none.
    package let otherArchives: [OtherArchive]?

    package struct OtherArchive: Sendable, Hashable, Encodable {
        package let id: ArchiveID
        package let title: String
        package let originalName: String
        package let verification: VerificationCode?
        package let verificationSummary: VerificationSummary?

        init(_ observed: ListedArchive) {
            let archive = observed.archive
            (id, title, originalName) = (archive.id, archive.title, archive.entry.originalName)
            (verification, verificationSummary) = (archive.verificationCode(observed.availability), archive.verified)
        }
    }
}

/// One page of search results.
package struct SearchResults: Sendable, Encodable {
    package var hits: [SearchHit] = []
    /// The number of pages found, at most `Searcher.totalMax`.
    package var total = 0
    /// Whether there are more pages than `total`.
    package var totalIsMinimum = false
    /// Continues the list; `nil` at its end.
    package var next: String?
    package var coverage = SearchCoverage()
    /// IDs in `in:` and `collection:` that no archive or collection has.
    package var unknown: [String] = []
    /// Filters that were searched as words, since their value isn't valid.
    package var invalidFilters: [String] = []
    /// Folded words of the search that say little, such as "how" and "the": a page need not have them.
    package var optionalWords: [String] = []
    /// Another spelling, if it finds pages; `nil` if there is none.
    package var suggestion: Suggestion?
    /// What finds pages when the search finds none; `nil` if it finds some.
    package var alternatives: Alternatives?
    /// How many of the pages are in each archive, site and so on; `nil` unless that was asked for.
    package var facets: SearchFacets?

    /// A search with words of the library that are spelled like those that were typed.
    package struct Suggestion: Sendable, Hashable, Encodable {
        /// The text of the search.
        package let query: String
        /// The number of pages that it finds.
        package let total: Int
        package let totalIsMinimum: Bool
        /// Whether the hits are those of this search, since the one that was typed finds none.
        package var isApplied: Bool
    }

    /// Searches that are parts of one that finds nothing.
    package struct Alternatives: Sendable, Hashable, Encodable {
        package struct Search: Sendable, Hashable, Encodable {
            /// What was typed of the part; the name of a filter, such as `site`, if that was left out; `all` if all were.
            package let part: String
            /// The text of the search.
            package let query: String
            package let total: Int
            package let totalIsMinimum: Bool
        }

        /// Each word, phrase or group of alternatives alone, with the filters.
        package var parts: [Search] = []
        /// The search without one of its filters, or without all.
        package var withoutFilter: [Search] = []
        /// Whether the search has filters.
        package var isFiltered: Bool
    }
}

/// The number of pages found, by value.
package struct SearchFacets: Sendable, Encodable {
    package struct Count: Sendable, Hashable, Codable, FetchableRecord {
        package var value: String
        package var count: Int
        /// The title of an archive, whose ID the value is; `nil` for other values.
        package var title: String?
        /// The name of that archive's file at its import.
        package var originalName: String?
    }

    package var archives: [Count] = []
    package var sites: [Count] = []
    package var years: [Count] = []
    package var types: [Count] = []
    package var languages: [Count] = []
    /// Whether the counts are those of the first `Searcher.facetDocumentsMax` documents only.
    package var isPartial = false
}
