/// How lookups find captures in the indexes of an archive.
public enum IndexAccess: Sendable, Hashable {
    /// By binary search in the file, in O(log n).
    case search
    /// By reading the whole index, in O(n), for a reason.
    case sequential(SequentialReason)
}

/// The reason why every lookup reads the whole index, until a sorted copy exists.
public struct SequentialReason: Sendable, Hashable, CustomStringConvertible {
    /// The kind of reason. Raw values are stable.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// The archive has no index.
        case missing
        /// The index lists no captures.
        case empty
        /// There are so many index files that searching them all takes as long as reading them.
        case many
        /// The index is compressed in the ZIP.
        case compressed
        /// A gzipped index has no `.idx` file.
        case gzipWithoutIDX = "gzip-without-idx"
        /// The `.idx` file is compressed in the ZIP and too large to keep in memory.
        case largeIDX = "large-idx"
        /// The lines, or the blocks that an `.idx` file lists, aren't in order or aren't valid.
        case unsorted
        /// The index is damaged.
        case damaged
        /// A block of a gzipped index doesn't match its digest in the `.idx` file.
        case blockDigest = "block-digest"
        /// An `.idx` file names a block by another line than its first.
        case blockName = "block-name"
        /// The index lacks its last line.
        case lastLineMissing = "last-line-missing"
        /// The index also lists records that aren't captures, such as a crawler's notes.
        case notCaptures = "not-captures"
    }

    /// The kind of reason.
    public let code: Code
    /// The index file, for example `indexes/index.cdx`, or the folder if there is none.
    public let file: String
    /// A message in the style of `WebArchiveError.problem`.
    public let problem: String

    init(_ code: Code, file: String, _ problem: String) {
        self.code = code
        self.file = file
        self.problem = problem
    }

    /// Creates the reason for an error that made a search fail.
    init(_ error: WebArchiveError, file: String) {
        let code: Code =
            switch error.problem {
            case ZipNumIndex.wrongDigest: .blockDigest
            case ZipNumBlock.wrongFirstLine: .blockName
            default: error.code == .badIndex ? .unsorted : .damaged
            }
        self.init(code, file: file, error.problem)
    }

    /// `file: problem`.
    public var description: String { "\(file): \(problem)" }
}
