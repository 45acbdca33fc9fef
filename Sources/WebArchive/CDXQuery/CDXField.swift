/// A part of an index line that a query names. Names are those of pywb's CDX server, aliases included.
enum CDXField: Sendable, Hashable {
    case urlKey
    case timestamp
    case member(CDXMember)
    /// The archive that the line is of.
    case source
    /// Any other member of the line's JSON block.
    case other(String)

    init(name: String) {
        switch name {
        case "urlkey", "k": self = .urlKey
        case "timestamp", "t": self = .timestamp
        case "source", "source-coll": self = .source
        case "original", "u": self = .member(.url)
        case "mimetype", "m": self = .member(.mime)
        case "statuscode": self = .member(.status)
        case "d": self = .member(.digest)
        // pywb lists `s` twice; the second counts.
        case "l", "s": self = .member(.length)
        case "o": self = .member(.offset)
        case "f": self = .member(.filename)
        default: self = CDXMember(rawValue: name).map { .member($0) } ?? .other(name)
        }
    }
}

/// The usual members of a line's JSON block, in the order in which answers give them.
enum CDXMember: String, Sendable, Hashable, CaseIterable {
    case url
    case mime
    case status
    case digest
    case length
    case offset
    case filename

    var place: Int {
        switch self {
        case .url: 0
        case .mime: 1
        case .status: 2
        case .digest: 3
        case .length: 4
        case .offset: 5
        case .filename: 6
        }
    }
}
