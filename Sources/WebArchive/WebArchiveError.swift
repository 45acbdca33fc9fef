/// An error reading an archive or a part of it, with a stable code and a message.
///
/// `description` has the form `file: byte N: problem; hint`, in lower case and without a full stop.
public struct WebArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error. Raw values are stable.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// The file is empty.
        case empty
        /// The file isn't a ZIP.
        case notZIP = "not-zip"
        /// The data ends before a structure is complete.
        case truncated
        /// A structure of the ZIP is inconsistent or points outside the file.
        case corruptZIP = "corrupt-zip"
        /// An entry is encrypted.
        case encrypted
        /// An entry has an unsafe name.
        case unsafeName = "unsafe-name"
        /// Two entries have the same name.
        case duplicateName = "duplicate-name"
        /// A size or a count exceeds its limit. See `Limits`.
        case tooLarge = "too-large"
        /// A step has used up what it may cost. See `Allowance`.
        case tooCostly = "too-costly"
        /// The archive contains no WARC file.
        case noArchiveData = "no-archive-data"
        /// A text that should be JSON isn't.
        case badJSON = "bad-json"
        /// The file contains or lists other WACZ files.
        case multiWACZ = "multi-wacz"
        /// A WARC record, or its HTTP message, can't be parsed.
        case badRecord = "bad-record"
        /// Compressed data is damaged.
        case badGzip = "bad-gzip"
        /// A body doesn't match its `Content-Encoding`.
        case badEncoding = "bad-encoding"
        /// An index is invalid, or points outside its data.
        case badIndex = "bad-index"
        /// The operating system can't open, read or write the file.
        case io
        /// The file system is full.
        case noSpace = "no-space"
        /// The format is known but isn't supported.
        case unsupported
        /// The caller cancelled the operation.
        case cancelled
    }

    /// The kind of error.
    public let code: Code
    /// What is wrong, starting in lower case and without a full stop.
    public let problem: String
    /// The file as named by the user, with the entry in it: `crawl.wacz/archive/data.warc.gz`.
    public let file: String
    /// The byte offset of the problem in `file`, if known.
    public let offset: UInt64?
    /// What to do next, if anything.
    public let hint: String?

    /// Creates an error.
    public init(code: Code, problem: String, file: String, offset: UInt64? = nil, hint: String? = nil) {
        self.code = code
        self.problem = problem
        self.file = file
        self.offset = offset
        self.hint = hint
    }

    /// The message in the form `file: byte N: problem; hint`.
    public var description: String {
        let place = offset.map { "\(file): byte \($0)" } ?? file
        let text = "\(place): \(problem)"
        return hint.map { "\(text); \($0)" } ?? text
    }
}

extension WebArchiveError {
    /// Whether the data is damaged, as opposed to a limit, an I/O error or a cancellation.
    var isDamage: Bool {
        [.truncated, .corruptZIP, .badJSON, .badRecord, .badGzip].contains(code)
    }

    /// Returns the error for compressed data that expands far more than that of real archives.
    static func expanding(_ compressed: UInt64, to size: String, file: String) -> WebArchiveError {
        let problem = "\(ByteSize.text(compressed)) expand to \(size), far more than in real archives"
        return WebArchiveError(code: .tooLarge, problem: problem, file: file)
    }
}
