import WebArchive

/// A collection with its members. Its JSON is documented in `docs/json.md`.
package struct CollectionDetails: Sendable, Hashable {
    package let collection: ArchiveCollection
    package let members: [ListedArchive]

    private var archives: [Archive] { members.map(\.archive) }

    /// The engine's name for this version of the collection; it changes when any member's file changes.
    package var replayCollection: String { Replayable.replayCollection(of: collection.id, archives) }

    /// How many of the members' files can be read now.
    package var availability: CollectionAvailability {
        let available = members.count { $0.availability == .available }
        if available == members.count { return .available }
        return available == 0 ? .unavailable : .partly
    }
}

/// How much of a collection can be read now.
package enum CollectionAvailability: String, Sendable, Hashable, Codable {
    /// All members, or there are none.
    case available
    case partly
    /// No members.
    case unavailable
}

extension CollectionDetails: Encodable {
    private enum CodingKeys: String, CodingKey {
        case id, title, tags, notes, members, createdAt, originalName, captureCount, pageCount, size
        case firstCapture, lastCapture, mainPage, replayCollection, availability
    }

    /// Encodes the collection with its members as archives.
    package func encode(to encoder: any Encoder) throws {
        try encode(to: encoder, members: members)
    }

    /// Encodes the collection with another representation of its members.
    package func encode(to encoder: any Encoder, members: some Encodable) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(collection.id.text, forKey: .id)
        try container.encode(collection.title, forKey: .title)
        try container.encode(collection.tags, forKey: .tags)
        try container.encode(collection.notes, forKey: .notes)
        try container.encode(members, forKey: .members)
        try container.encode(RFC3339.text(of: collection.createdAt), forKey: .createdAt)
        try container.encodeIfPresent(collection.originalName, forKey: .originalName)
        try container.encode(archives.reduce(0) { $0.addingSaturated($1.captureCount) }, forKey: .captureCount)
        try container.encode(archives.reduce(0) { $0.addingSaturated($1.pageCount) }, forKey: .pageCount)
        try container.encode(archives.reduce(0) { $0.addingSaturated($1.size) }, forKey: .size)
        // Timestamps of 14 and of 17 digits sort like their times.
        let (first, last) = (archives.compactMap(\.firstCapture).min(), archives.compactMap(\.lastCapture).max())
        try container.encodeIfPresent(first.flatMap(RFC3339.text(ofTimestamp:)), forKey: .firstCapture)
        try container.encodeIfPresent(last.flatMap(RFC3339.text(ofTimestamp:)), forKey: .lastCapture)
        try container.encodeIfPresent(archives.lazy.compactMap(\.mainPage).first, forKey: .mainPage)
        try container.encode(replayCollection, forKey: .replayCollection)
        try container.encode(availability, forKey: .availability)
    }
}

/// A collection as lists show it, with the ids of its members.
package struct ListedCollection: Sendable, Hashable, Encodable {
    package let details: CollectionDetails

    package init(_ details: CollectionDetails) { self.details = details }

    package func encode(to encoder: any Encoder) throws {
        try details.encode(to: encoder, members: details.members.map(\.archive.id.text))
    }
}
