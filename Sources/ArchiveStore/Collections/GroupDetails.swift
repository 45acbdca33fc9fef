import WebArchive

/// A group with its members that there are. Its JSON is documented in `docs/json.md`.
package struct GroupDetails: Sendable, Hashable {
    package let group: ArchiveGroup
    package let members: [ListedArchive]

    private var archives: [Archive] { members.map(\.archive) }

    /// The engine's collection: another one as soon as any file behind it is another.
    package var collection: String { Replayable.collection(of: group.id, archives) }

    /// Whether the members' files can be read now.
    package var availability: GroupAvailability {
        let here = members.count { $0.availability == .here }
        if here == members.count { return .here }
        return here == 0 ? .offline : .partly
    }
}

/// How much of a group can be read now.
package enum GroupAvailability: String, Sendable, Hashable, Codable {
    /// Every member, or there is none.
    case here
    case partly
    /// None of its members.
    case offline
}

extension GroupDetails: Encodable {
    private enum CodingKeys: String, CodingKey {
        case id, title, tags, notes, members, createdAt, originalName, captureCount, pageCount, size
        case firstCapture, lastCapture, mainPage, collection, availability
    }

    /// With its members as archives.
    package func encode(to encoder: any Encoder) throws {
        try encode(to: encoder, members: members)
    }

    /// With its members in another form.
    package func encode(to encoder: any Encoder, members form: some Encodable) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(group.id.text, forKey: .id)
        try container.encode(group.title, forKey: .title)
        try container.encode(group.tags, forKey: .tags)
        try container.encode(group.notes, forKey: .notes)
        try container.encode(form, forKey: .members)
        try container.encode(RFC3339.text(of: group.createdAt), forKey: .createdAt)
        try container.encodeIfPresent(group.originalName, forKey: .originalName)
        try container.encode(archives.reduce(0) { $0.addingSaturated($1.captureCount) }, forKey: .captureCount)
        try container.encode(archives.reduce(0) { $0.addingSaturated($1.pageCount) }, forKey: .pageCount)
        try container.encode(archives.reduce(0) { $0.addingSaturated($1.size) }, forKey: .size)
        // Texts of 14 and of 17 digits sort as their times do.
        let (first, last) = (archives.compactMap(\.firstCapture).min(), archives.compactMap(\.lastCapture).max())
        try container.encodeIfPresent(first.flatMap(RFC3339.text(ofTimestamp:)), forKey: .firstCapture)
        try container.encodeIfPresent(last.flatMap(RFC3339.text(ofTimestamp:)), forKey: .lastCapture)
        try container.encodeIfPresent(archives.lazy.compactMap(\.mainPage).first, forKey: .mainPage)
        try container.encode(collection, forKey: .collection)
        try container.encode(availability, forKey: .availability)
    }
}

/// A group as lists show it: its members by their ids.
package struct ListedGroup: Sendable, Hashable, Encodable {
    package let details: GroupDetails

    package init(_ details: GroupDetails) { self.details = details }

    package func encode(to encoder: any Encoder) throws {
        try details.encode(to: encoder, members: details.members.map(\.archive.id.text))
    }
}
