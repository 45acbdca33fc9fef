import ArchiveStore

/// An archive or a collection in the API, with its replay origin.
struct Resource<Body: Encodable & Sendable>: Encodable, Sendable {
    let body: Body
    /// Absent in origin mode `ports` until a port is assigned.
    let replayOrigin: String?

    private enum CodingKeys: String, CodingKey {
        case replayOrigin
    }

    func encode(to encoder: any Encoder) throws {
        try body.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(replayOrigin, forKey: .replayOrigin)
    }
}

/// A collection with its archives.
struct CollectionResource: Encodable, Sendable {
    let details: CollectionDetails
    let members: [Resource<ListedArchive>]

    func encode(to encoder: any Encoder) throws { try details.encode(to: encoder, members: members) }
}

extension Site {
    func resource(_ listed: ListedArchive) -> Resource<ListedArchive> {
        Resource(body: listed, replayOrigin: replayOrigin(of: listed.archive))
    }

    func resource(_ item: LibraryItem) -> Resource<LibraryItem> {
        Resource(body: item, replayOrigin: replayOrigin(of: item.archive))
    }

    func resource(_ details: ArchiveDetails) -> Resource<ArchiveDetails> {
        Resource(body: details, replayOrigin: replayOrigin(of: details.archive))
    }

    func resource(_ listed: ListedCollection, of collection: ArchiveCollection) -> Resource<ListedCollection> {
        Resource(body: listed, replayOrigin: replayOrigin(of: .collection(collection, [])))
    }

    func resource(_ details: CollectionDetails) -> Resource<CollectionResource> {
        Resource(
            body: CollectionResource(details: details, members: details.members.map(resource)),
            replayOrigin: replayOrigin(of: .collection(details.collection, [])))
    }
}
