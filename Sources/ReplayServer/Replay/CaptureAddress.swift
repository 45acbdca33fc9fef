import ArchiveStore
import WebArchive

/// A parsed path below `/c/`: `/c/ID/cdx`, `/c/ID/timemap/FORM/URL`, `/c/ID/URL` or `/c/ID/<ts><mod>/URL`.
///
/// As in pywb, archived URLs are part of the path with their query, and aren't percent-decoded.
struct CaptureAddress: Hashable {
    /// The archives to search.
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

        /// The requested URL; `nil` for an index query, which has it as a parameter.
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

    /// - Parameter path: The request's target, including the query.
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

    /// Returns the path of a capture.
    static func memento(
        _ archive: ArchiveID, _ timestamp: String, _ modifier: CaptureModifier, _ url: String
    ) -> String {
        "\(prefix)\(archive)/\(timestamp)\(modifier.rawValue)/\(url)"
    }
}

/// The form of a capture, which follows the timestamp in pywb's URLs.
enum CaptureModifier: String, Hashable, CaseIterable {
    /// For display.
    case none = ""
    /// As archived.
    case identity = "id_"
    /// As archived, with fields for the replay engine.
    case engine = "ir_"
    /// As a download.
    case download = "dl_"
    // Pages and parts of pages that other servers rewrite. Here, the engine in the browser does that.
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

    /// Whether the engine has to show the capture.
    var isForDisplay: Bool { ![.identity, .engine, .download].contains(self) }
}
