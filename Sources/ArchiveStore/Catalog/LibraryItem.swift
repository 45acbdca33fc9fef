/// An archive in a list of the library, without what only its own page shows. Its JSON is documented in `docs/json.md`.
package struct LibraryItem: Sendable, Hashable {
    package let archive: Archive
    package let availability: Availability
    /// The hosts with the most captures, at most `sitesMax`.
    package let sites: [String]
    /// The number of all sites.
    package let siteCount: Int
    /// The collections that contain the archive.
    package let collections: [ArchiveID]
    /// Whether the archive has a picture of its own.
    package let hasThumbnail: Bool
    /// The number of archives, with this one, that were saved from its URL; `nil` unless the capture server made it.
    package let savedTimes: Int?

    /// The maximum number of sites that are listed.
    static let sitesMax = 3
}

extension LibraryItem: Encodable {
    private enum CodingKeys: String, CodingKey {
        case sites, siteCount, collections, thumbnail, savedFrom, savedTimes
    }

    package func encode(to encoder: any Encoder) throws {
        try archive.encodeSummary(to: encoder, availability)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(sites, forKey: .sites)
        try container.encode(siteCount, forKey: .siteCount)
        try container.encode(collections.map(\.text), forKey: .collections)
        try container.encodeIfPresent(archive.saved?.url, forKey: .savedFrom)
        try container.encodeIfPresent(savedTimes, forKey: .savedTimes)
        if hasThumbnail { try container.encode(archive.thumbnailPath, forKey: .thumbnail) }
    }
}
