package import Foundation

/// Long work that outlives the process that asked for it. Its JSON is documented in `docs/json.md`.
package struct Job: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// A file is brought into the store.
        case `import`
        /// A linked file is hashed.
        case hash
    }

    package enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// For somebody to run it.
        case waiting
        case running
        case paused
        case done
        case failed
        case cancelled

        package var isOver: Bool { self == .done || self == .failed || self == .cancelled }
    }

    package let id: Int64
    package let kind: Kind
    /// What it is about, for people: a file name.
    package let subject: String
    /// The archive, or the collection, that it is about, once there is one.
    package let archiveID: ArchiveID?
    package let state: State
    /// Why it failed, was paused or cancelled, or waits again.
    package let reason: String?
    /// The stable code of the error that it failed with.
    package let errorCode: String?
    /// Bytes of work done, of all.
    package let done: UInt64
    package let total: UInt64?
    /// How often it was begun.
    package let attempt: Int
    package let createdAt: Date
    /// When it was begun the last time.
    package let startedAt: Date?
    package let updatedAt: Date
    package let finishedAt: Date?
    /// Whether its file can be read again: without that it can't be paused and resumed, nor tried again.
    package let isRepeatable: Bool
    /// Grows with every change of any job: those with a greater one were changed later.
    package let revision: Int
}

extension Job: Encodable {
    private enum CodingKeys: String, CodingKey {
        case id, kind, subject, archive, state, reason, errorCode, done, total, attempt
        case isRepeatable = "repeatable"
        case createdAt, startedAt, updatedAt, finishedAt
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(kind, forKey: .kind)
        try container.encode(subject, forKey: .subject)
        try container.encodeIfPresent(archiveID?.text, forKey: .archive)
        try container.encode(state, forKey: .state)
        try container.encodeIfPresent(reason, forKey: .reason)
        try container.encodeIfPresent(errorCode, forKey: .errorCode)
        try container.encode(done, forKey: .done)
        try container.encodeIfPresent(total, forKey: .total)
        try container.encode(attempt, forKey: .attempt)
        try container.encode(isRepeatable, forKey: .isRepeatable)
        try container.encode(RFC3339.text(of: createdAt), forKey: .createdAt)
        try container.encodeIfPresent(startedAt.map(RFC3339.text), forKey: .startedAt)
        try container.encode(RFC3339.text(of: updatedAt), forKey: .updatedAt)
        try container.encodeIfPresent(finishedAt.map(RFC3339.text), forKey: .finishedAt)
    }
}
