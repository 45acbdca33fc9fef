package import Foundation

/// Long work that outlives the process that asked for it. Its JSON is documented in `docs/json.md`.
package struct Job: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// A file is brought into the store.
        case `import`
        /// A referenced file is hashed.
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
    /// What it is about, for people: a path or a file name.
    package let subject: String
    /// The archive that it is about, once there is one.
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
    package let startedAt: Date?
    package let updatedAt: Date
    package let finishedAt: Date?
}
