import Synchronization
package import WebArchive

/// What one step may cost: an allowance for each archive that it reads.
package final class Allowances: Sendable {
    private let byKey: Mutex<[String: Allowance]>

    package init() { byKey = Mutex([:]) }

    /// Creates the allowances of a step that has another one for an archive.
    init(_ allowance: Allowance, for archive: Archive) { byKey = Mutex([archive.key: allowance]) }

    /// Returns the allowance for an archive, which all parts of the step share.
    package subscript(archive: Archive) -> Allowance {
        byKey.withLock { byKey in
            if let known = byKey[archive.key] { return known }
            let made = Allowance(archiveSize: archive.size)
            byKey[archive.key] = made
            return made
        }
    }
}
