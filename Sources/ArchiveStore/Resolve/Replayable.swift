import Crypto
import Foundation
import WebArchive

/// What replays on one origin: an archive, or a collection.
package enum Replayable: Sendable, Hashable {
    case archive(Archive)
    /// A collection with its members, in the collection's order.
    case collection(ArchiveCollection, [Archive])

    package var id: ArchiveID {
        switch self {
        case .archive(let archive): archive.id
        case .collection(let collection, _): collection.id
        }
    }

    package var title: String {
        switch self {
        case .archive(let archive): archive.title
        case .collection(let collection, _): collection.title
        }
    }

    package var archives: [Archive] {
        switch self {
        case .archive(let archive): [archive]
        case .collection(_, let members): members
        }
    }

    /// The engine's name for this version; it changes when any file changes.
    package var replayCollection: String {
        switch self {
        case .archive(let archive): archive.replayCollection
        case .collection(let collection, let members): Self.replayCollection(of: collection.id, members)
        }
    }

    package static func replayCollection(of collection: ArchiveID, _ members: [Archive]) -> String {
        let marks = members.map(\.shownVersion).joined(separator: " ")
        return "\(collection)-\(SHA256.hash(data: Data(marks.utf8)).hexadecimal.prefix(12))"
    }
}
