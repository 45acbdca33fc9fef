import Crypto
import Foundation
import WebArchive

/// What is replayed on one origin: an archive, or a group of archives as one.
package enum Replayable: Sendable, Hashable {
    case archive(Archive)
    /// With the members that there are, in the group's order.
    case group(ArchiveGroup, [Archive])

    package var id: ArchiveID {
        switch self {
        case .archive(let archive): archive.id
        case .group(let group, _): group.id
        }
    }

    package var title: String {
        switch self {
        case .archive(let archive): archive.title
        case .group(let group, _): group.title
        }
    }

    package var archives: [Archive] {
        switch self {
        case .archive(let archive): [archive]
        case .group(_, let members): members
        }
    }

    /// The engine's collection: another one as soon as any file behind it is another.
    package var collection: String {
        switch self {
        case .archive(let archive): archive.collection
        case .group(let group, let members): Self.collection(of: group.id, members)
        }
    }

    package static func collection(of group: ArchiveID, _ members: [Archive]) -> String {
        let marks = members.map { $0.sha256 ?? $0.key }.joined(separator: " ")
        return "\(group)-\(SHA256.hash(data: Data(marks.utf8)).hexadecimal.prefix(12))"
    }
}
