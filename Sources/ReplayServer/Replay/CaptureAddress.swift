import ArchiveStore
import WebArchive

/// What a path below `/c/` asks for: `/c/ID/cdx`, `/c/ID/timemap/FORM/URL`, `/c/ID/URL` or `/c/ID/<ts><mod>/URL`.
///
/// Archived URLs stand in the path as they are, their query included, as in pywb; nothing is percent-decoded.
struct CaptureAddress: Hashable {
    /// Which archives are asked.
    enum Scope: Hashable {
        case all
        case archive(String)
    }

    enum Target: Hashable {
        case cdx
        /// RFC 7089 §5. `form` is `link`, `json` or `cdxj`.
        case timeMap(form: String, url: String)
        /// RFC 7089 §4.1.
        case timeGate(url: String)
        /// RFC 7089 §2.2.4. `timestamp` has 0 to 17 digits.
        case memento(timestamp: String, modifier: CaptureModifier, url: String)

        /// What is asked for; `nil` for a query of an index, whose parameters have it.
        var url: String? {
            switch self {
            case .cdx: nil
            case .timeMap(_, let url), .timeGate(let url), .memento(_, _, let url): url
            }
        }

        var isForEngine: Bool {
            if case .memento(_, .engine, _) = self { true } else { false }
        }
    }

    let scope: Scope
    let target: Target

    /// - Parameter path: A request's target, query included.
    init?(path: String) {
        guard path.hasPrefix(Self.prefix) else { return nil }
        let parts = path.dropFirst(Self.prefix.count)
            .split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        scope = parts[0] == "all" ? .all : .archive(String(parts[0]))
        guard let target = Self.target(parts[1]) else { return nil }
        self.target = target
    }

    static let prefix = "/c/"

    private static func target(_ rest: Substring) -> Target? {
        if rest == "cdx" || rest.hasPrefix("cdx?") { return .cdx }
        if rest.hasPrefix("timemap/") {
            let parts = rest.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, !parts[2].isEmpty else { return nil }
            return .timeMap(form: String(parts[1]), url: CapturedURL.completed(String(parts[2])))
        }
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        if digits.count <= 17, let slash = rest.firstIndex(of: "/"),
            let modifier = CaptureModifier(text: rest[digits.endIndex..<slash]),
            !digits.isEmpty || modifier != .none
        {
            let url = rest[rest.index(after: slash)...]
            guard !url.isEmpty else { return nil }
            return .memento(
                timestamp: String(digits), modifier: modifier, url: CapturedURL.completed(String(url)))
        }
        return .timeGate(url: CapturedURL.completed(String(rest)))
    }

    /// The path of a memento.
    static func memento(
        _ archive: ArchiveID, _ timestamp: String, _ modifier: CaptureModifier, _ url: String
    ) -> String {
        "\(prefix)\(archive)/\(timestamp)\(modifier.rawValue)/\(url)"
    }
}

/// How a capture is wanted, as pywb's addresses say it behind the timestamp.
enum CaptureModifier: String, Hashable, CaseIterable {
    /// To be looked at by a person.
    case none = ""
    /// As archived.
    case identity = "id_"
    /// As archived, in the form that the replay engine understands.
    case engine = "ir_"
    /// As a file to keep.
    case download = "dl_"
    // Pages and parts of pages, rewritten by other servers. Here the engine in the browser does that.
    case page = "mp_"
    case frame = "if_"
    case image = "im_"
    case script = "js_"
    case style = "cs_"
    case object = "oe_"
    case worker = "wkr_"
    case serviceWorker = "sw_"
    case live = "fr_"

    init?(text: some StringProtocol) {
        self.init(rawValue: String(text))
    }

    /// Whether a person looks at it, so that the engine has to show it.
    var isForPeople: Bool { ![.identity, .engine, .download].contains(self) }
}
