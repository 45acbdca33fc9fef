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

extension ArchiveStore {
    /// The archive or group that a person means: its id, or the unique beginning of one.
    ///
    /// - Throws: `StoreError`: `notFound`, or `ambiguous` with the candidates.
    package func replayable(matching text: String) throws -> Replayable {
        if let id = ArchiveID(text), let found = try replayable(id: id) { return found }
        let candidates = try catalog.ids(startingWith: text) + collections.ids(startingWith: text)
        if text.isEmpty || candidates.isEmpty { return .archive(try archive(matching: text)) }
        if candidates.count == 1, let found = try replayable(id: candidates[0]) { return found }
        throw StoreError(
            .ambiguous,
            "\"\(text)\" is the beginning of several ids: \(candidates.map(\.text).joined(separator: ", "))",
            hint: "give more of it")
    }

    /// The archive or group of that id.
    package func replayable(id: ArchiveID) throws -> Replayable? {
        if let archive = try catalog.archive(id: id) { return .archive(archive) }
        return try collections.group(id: id).map { .group($0, try collections.members(of: $0)) }
    }
}
