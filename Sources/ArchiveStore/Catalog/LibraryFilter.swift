package import WebArchive

/// Selects archives of the library. An archive must meet all conditions.
package struct LibraryFilter: Sendable, Hashable {
    /// A condition that people look for.
    package enum State: Sendable, Hashable, CaseIterable {
        /// There are errors or warnings.
        case issues
        /// The file is linked, and can't be found or has changed.
        case unavailable
        /// The file is there, and this is what its last verification found.
        case result(VerificationCode)

        package static let allCases: [State] =
            [.issues, .unavailable] + VerificationCode.allCases.filter { $0 != .changed }.map { .result($0) }

        /// `issues`, `unavailable`, or the code of a result.
        package var name: String {
            switch self {
            case .issues: "issues"
            case .unavailable: "unavailable"
            case .result(let code): code.rawValue
            }
        }

        /// Finds a state by its name; `nil` for anything else.
        package init?(name: some StringProtocol) {
            guard let state = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = state
        }
    }

    /// Words that must each be in title, tags, notes, original name, id, or the name of a site.
    package var query = ""
    /// Tags that the archive must have, all of them.
    package var tags: [String] = []
    /// A host that the archive must have captures of, as in index keys.
    package var site: String?
    /// A year in which the archive has captures. Until these were counted: that of its first or its last capture.
    package var year: Int?
    /// The URL that the archive must have been saved from.
    package var saved: String?
    /// States of which the archive must have one; empty for any archive.
    package var states: Set<State> = []

    package init() {}
}

/// The order of a list of archives. Archives that are equal in it are in the order of their ids.
package struct LibraryOrder: Sendable, Hashable {
    /// What archives are sorted by.
    package enum Key: String, Sendable, Hashable, CaseIterable {
        case added, title, size, captured, pages
        /// What verifications found, in the order of `VerificationCode.byTrust`.
        case trust
    }

    package let key: Key
    package let isDescending: Bool

    /// The names of all orders.
    package static var names: [String] { Key.allCases.flatMap { [$0.rawValue, "-\($0.rawValue)"] } }

    /// Parses a key, with `-` before it for the descending order; `nil` for anything else.
    package init?(_ name: some StringProtocol) {
        isDescending = name.hasPrefix("-")
        guard let key = Key(rawValue: String(name.dropFirst(isDescending ? 1 : 0))) else { return nil }
        self.key = key
    }
}
