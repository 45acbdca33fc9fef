/// A field of an index line. Names and aliases are those of pywb's CDX server.
enum CDXField: Sendable, Hashable {
    case urlKey
    case timestamp
    case member(CDXMember)
    /// The archive that contains the line.
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
        // pywb defines `s` twice, and the second definition wins.
        case "l", "s": self = .member(.length)
        case "o": self = .member(.offset)
        case "f": self = .member(.filename)
        default: self = CDXMember(rawValue: name).map { .member($0) } ?? .other(name)
        }
    }
}

/// The standard members of a line's JSON block, in output order.
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
