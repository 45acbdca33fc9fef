import ArchiveStore

/// An archive or a group as the API shows it: with the origin it is replayed on.
struct Shown<Body: Encodable & Sendable>: Encodable, Sendable {
    let body: Body
    /// Absent where each archive has a port of its own, until this one has.
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

/// A group with its archives.
struct ShownGroup: Encodable, Sendable {
    let details: GroupDetails
    let members: [Shown<ListedArchive>]

    func encode(to encoder: any Encoder) throws { try details.encode(to: encoder, members: members) }
}

extension Site {
    func shown(_ listed: ListedArchive) -> Shown<ListedArchive> {
        Shown(body: listed, replayOrigin: replayOrigin(of: listed.archive))
    }

    func shown(_ details: ArchiveDetails) -> Shown<ArchiveDetails> {
        Shown(body: details, replayOrigin: replayOrigin(of: details.archive))
    }

    func shown(_ listed: ListedGroup, of group: ArchiveGroup) -> Shown<ListedGroup> {
        Shown(body: listed, replayOrigin: replayOrigin(of: .group(group, [])))
    }

    func shown(_ details: GroupDetails) -> Shown<ShownGroup> {
        Shown(
            body: ShownGroup(details: details, members: details.members.map(shown)),
            replayOrigin: replayOrigin(of: .group(details.group, [])))
    }
}
