package import WebArchive

/// Why a URL can't be shown, and what can be opened instead. Documented in `docs/json.md`.
package struct Explanation: Sendable, Hashable {
    /// A kind of reason. Raw values are stable; the order is that of `reasons`, the most helpful first.
    package enum Code: String, Sendable, Hashable, CaseIterable, Encodable {
        case captured
        case otherArchive = "other-archive"
        case otherForm = "other-form"
        case otherQuery = "other-query"
        case postOnly = "post-only"
        case redirectLost = "redirect-lost"
        case errorPage = "error-page"
        case incomplete
        case unreadable
        case requires
        case unavailable
        case crawlFailed = "crawl-failed"
        case linkedFrom = "linked-from"
        case siteNotCaptured = "site-not-captured"
        case never
    }

    /// A reason with its evidence.
    package enum Reason: Sendable, Hashable {
        /// Nothing is wrong: the URL has a capture that replay shows.
        case captured(CaptureSummary)
        case otherArchive(OtherArchives)
        case otherForm(OtherForms)
        case otherQuery(OtherQueries)
        case postOnly(OtherMethods)
        case redirectLost(LostRedirect)
        /// The site answered with an error.
        case errorPage(CaptureSummary)
        case incomplete(IncompleteCapture)
        case unreadable(UnreadableCapture)
        case requires(MissingRequirements)
        case unavailable(UnavailableArchives)
        case crawlFailed(FailedLoad)
        case linkedFrom(LinkingPages)
        case siteNotCaptured(CapturedSite)
        case never(CapturedSite)
    }

    /// A capture that can be opened instead.
    package struct Offer: Sendable, Hashable {
        package let capture: CaptureSummary
        package let why: Code
    }

    /// The URL asked for.
    package let url: String
    /// The time asked for; `nil` for the latest capture.
    package let time: CaptureTimestamp?
    /// What was searched; `nil` for the whole library.
    package let replayable: Replayable?
    /// The URL that is missing, if it isn't `url` itself but where `url` redirects to.
    package internal(set) var missing: String?
    /// What is known, the most helpful reason first. Never empty.
    package internal(set) var reasons: [Reason] = []
    package internal(set) var offers: [Offer] = []
    /// Captures of the same site with the most similar URLs, the most similar first.
    package internal(set) var closest: [CaptureSummary] = []

    /// The code of the first reason.
    package var code: Code { reasons.first?.code ?? .never }
}

extension Explanation {
    package struct OtherArchives: Sendable, Hashable, Encodable {
        package struct Match: Sendable, Hashable, Encodable {
            /// The archive's ID.
            package let archive: String
            package let title: String
            /// The number of captures.
            package let captures: Int
            package let firstYear: Int
            package let lastYear: Int
        }

        /// The archives with the captures closest in time, at most 10.
        package let archives: [Match]
        /// The number of archives found.
        package let total: Int
        /// The number of archives of the library that weren't searched: their files can't be read, or there are too
        /// many.
        package let skipped: Int
    }

    package struct OtherForms: Sendable, Hashable, Encodable {
        /// The captured URLs.
        package let urls: [String]
    }

    package struct OtherQueries: Sendable, Hashable, Encodable {
        /// The number of captured URLs that differ only in their query.
        package let total: Int
        /// Whether there are more, because not all were counted.
        package let more: Bool
        /// The URL that replay by lookups shows instead; `nil` if it shows none.
        package let fuzzyMatch: String?
    }

    package struct OtherMethods: Sendable, Hashable, Encodable {
        /// The request methods, sorted.
        package let methods: [String]
        /// The number of captures.
        package let total: Int
    }

    package struct LostRedirect: Sendable, Hashable, Encodable {
        /// The captured redirects, the first one that of the URL asked for.
        package let redirects: [CaptureSummary]
        /// Where the last one leads.
        package let target: String
        /// Whether the redirects never end.
        package let endless: Bool
    }

    /// A capture whose content is stored with another capture, which isn't there.
    package struct IncompleteCapture: Sendable, Hashable {
        package let capture: CaptureSummary
        /// What is missing, as far as it's known.
        package let missing: MissingPayload
        /// Archives of the library with which it would be complete in a collection.
        package let archives: [PayloadHolder]
    }

    package struct UnreadableCapture: Sendable, Hashable {
        package let capture: CaptureSummary
        /// What is wrong, in the style of `WebArchiveError.problem`.
        package let problem: String
        /// The WARC file that the index names.
        package let file: String
        /// The byte offset of the record in the WARC file.
        package let offset: UInt64
    }

    package struct MissingRequirements: Sendable, Hashable {
        package struct Requirement: Sendable, Hashable, Encodable {
            package let filename: String?
            package let sha256: String?
        }

        package let capture: CaptureSummary
        package let requires: [Requirement]
    }

    package struct UnavailableArchives: Sendable, Hashable, Encodable {
        package struct File: Sendable, Hashable, Encodable {
            /// The archive's ID.
            package let archive: String
            package let title: String
            package let availability: Availability
        }

        package let archives: [File]
    }

    package struct FailedLoad: Sendable, Hashable, Encodable {
        /// The archive that says so.
        package let archive: String
        /// The page that was being loaded.
        package let page: String
        /// When it was loaded, as 14 or 17 digits.
        package let timestamp: String?
        /// The HTTP status; `nil` if there was no response.
        package let status: Int?
        /// The browser's error, such as `net::ERR_ABORTED`.
        package let error: String?
    }

    package struct LinkingPages: Sendable, Hashable, Encodable {
        package struct Page: Sendable, Hashable, Encodable {
            /// The archive with the page.
            package let archive: String
            package let url: String
            package let timestamp: String
            /// How the page uses the URL, such as `image`.
            package let type: String?
        }

        /// At most 5.
        package let pages: [Page]
        package let total: Int
    }

    package struct CapturedSite: Sendable, Hashable, Encodable {
        /// The host name; `nil` if the URL has none.
        package let host: String?
        /// The number of captured URLs of this host.
        package let urls: Int
        /// Whether there are more, because not all were counted.
        package let more: Bool
    }
}

extension Explanation.Reason: Encodable {
    package var code: Explanation.Code { parts.code }

    private var parts: (code: Explanation.Code, evidence: any Encodable) {
        switch self {
        case .captured(let evidence): (.captured, evidence)
        case .otherArchive(let evidence): (.otherArchive, evidence)
        case .otherForm(let evidence): (.otherForm, evidence)
        case .otherQuery(let evidence): (.otherQuery, evidence)
        case .postOnly(let evidence): (.postOnly, evidence)
        case .redirectLost(let evidence): (.redirectLost, evidence)
        case .errorPage(let evidence): (.errorPage, evidence)
        case .incomplete(let evidence): (.incomplete, evidence)
        case .unreadable(let evidence): (.unreadable, evidence)
        case .requires(let evidence): (.requires, evidence)
        case .unavailable(let evidence): (.unavailable, evidence)
        case .crawlFailed(let evidence): (.crawlFailed, evidence)
        case .linkedFrom(let evidence): (.linkedFrom, evidence)
        case .siteNotCaptured(let evidence): (.siteNotCaptured, evidence)
        case .never(let evidence): (.never, evidence)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        let (code, evidence) = parts
        try ["code": code].encode(to: encoder)
        try evidence.encode(to: encoder)
    }
}

extension Explanation.IncompleteCapture: Encodable {
    private enum CodingKeys: String, CodingKey {
        case storedURL, storedAt, record, container, isUnchanged, archives
    }

    package func encode(to encoder: any Encoder) throws {
        try capture.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(missing.storedURL, forKey: .storedURL)
        try container.encodeIfPresent(missing.storedAt, forKey: .storedAt)
        try container.encodeIfPresent(missing.record, forKey: .record)
        try container.encodeIfPresent(missing.container, forKey: .container)
        try container.encode(missing.isUnchanged, forKey: .isUnchanged)
        try container.encode(archives, forKey: .archives)
    }
}

extension Explanation.UnreadableCapture: Encodable {
    private enum CodingKeys: String, CodingKey {
        case problem, file, offset
    }

    package func encode(to encoder: any Encoder) throws {
        try capture.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(problem, forKey: .problem)
        try container.encode(file, forKey: .file)
        try container.encode(offset, forKey: .offset)
    }
}

extension Explanation.MissingRequirements: Encodable {
    package func encode(to encoder: any Encoder) throws {
        try capture.encode(to: encoder)
        try ["requires": requires].encode(to: encoder)
    }
}

extension Explanation.Offer: Encodable {
    package func encode(to encoder: any Encoder) throws {
        try capture.encode(to: encoder)
        try ["why": why].encode(to: encoder)
    }
}

extension Explanation: Encodable {
    private enum CodingKeys: String, CodingKey {
        case code, url, timestamp, archive, collection, title, missing, reasons, offers, closest
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code, forKey: .code)
        try container.encode(url, forKey: .url)
        try container.encodeIfPresent(time?.digits14, forKey: .timestamp)
        switch replayable {
        case .archive(let archive): try container.encode(archive.id.text, forKey: .archive)
        case .collection(let collection, _): try container.encode(collection.id.text, forKey: .collection)
        case nil: break
        }
        try container.encodeIfPresent(replayable?.title, forKey: .title)
        try container.encodeIfPresent(missing, forKey: .missing)
        try container.encode(reasons, forKey: .reasons)
        try container.encode(offers, forKey: .offers)
        try container.encode(closest, forKey: .closest)
    }
}
