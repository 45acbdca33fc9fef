/// How lookups find captures in the indexes of a package.
public enum IndexAccess: Sendable, Hashable {
    /// By search in place, O(log n).
    case search
    /// By reading everything, O(n), for a reason.
    case sequential(SequentialReason)
}

/// Why an index has to be read from its start for every lookup, until a sorted copy of it is there.
public struct SequentialReason: Sendable, Hashable, CustomStringConvertible {
    /// What kind of reason it is. Raw values are stable.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// The package has no index.
        case missing
        /// The index names no capture.
        case empty
        /// The ZIP compresses the index.
        case compressed
        /// A gzipped index has no `.idx`.
        case gzipWithoutIDX = "gzip-without-idx"
        /// The `.idx` is compressed in the ZIP and too large to be kept in memory.
        case largeIDX = "large-idx"
        /// The lines, or the blocks that an `.idx` names, are not in order or not what they should be.
        case unsorted
        /// The bytes of the index are damaged.
        case damaged
        /// A block of a gzipped index is not the one whose digest the `.idx` has.
        case blockDigest = "block-digest"
    }

    /// What kind of reason it is, for programs.
    public let code: Code
    /// The index file: `indexes/index.cdx`; the folder when there is none.
    public let file: String
    /// What is wrong, in the style of `WebArchiveError.problem`.
    public let problem: String

    init(_ code: Code, file: String, _ problem: String) {
        self.code = code
        self.file = file
        self.problem = problem
    }

    /// What made a search fail.
    init(_ error: WebArchiveError, file: String) {
        let code: Code =
            error.problem == ZipNumIndex.otherDigest ? .blockDigest : error.code == .badIndex ? .unsorted : .damaged
        self.init(code, file: file, error.problem)
    }

    /// `file: problem`.
    public var description: String { "\(file): \(problem)" }
}
