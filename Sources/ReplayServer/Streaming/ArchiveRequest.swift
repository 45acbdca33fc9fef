import ArchiveStore
import NIOHTTP1

/// A request for an archive's file, as far as its head alone tells.
struct ArchiveRequest: Sendable {
    /// The last part of the path without `.wacz`, percent-decoded, and whether the replay engine asks: `view=replay`.
    let file: OpenArchives.Request
    /// On a replay origin only that archive's own file is served.
    let onlyID: ArchiveID?
    /// The archive's own port that this came to.
    private let replayPort: HostPolicy.ReplayPort?
    /// `sha256=` or, before the hash is known, `version=` in the query: the client wants this very file, not another one that has
    /// taken its name.
    let wantedKey: String?
    let isHead: Bool
    let conditions: ConditionalRequest

    /// `nil` when the request is none for an archive's file, or not one that this host may answer: the router has the words.
    init?(_ head: HTTPRequestHead, hosts: HostPolicy) {
        guard head.method == .GET || head.method == .HEAD, head.uri.hasPrefix(Self.prefix) else { return nil }
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let last = parts[0].dropFirst(Self.prefix.count)
        let query = parts.count > 1 ? parts[1].split(separator: "&") : []
        let fetch = ["sec-fetch-site", "sec-fetch-mode"].map { head.headers.first(name: $0) }
        guard !Self.isNavigationFromElsewhere(site: fetch[0], mode: fetch[1]) else { return nil }
        guard !last.contains("/"),
            let file = OpenArchives.Request(path: last, query: parts.dropFirst().first)
        else { return nil }
        self.file = file
        replayPort = hosts.replaying
        switch hosts.role(hosts: head.headers["host"]) {
        case .control, .address, .stock: onlyID = nil
        case .replay(let id) where last == "\(id).wacz": onlyID = id
        case .replay, .addressOfReplay, .misdirected, .malformed: return nil
        }
        wantedKey =
            query.lazy.compactMap { parameter in
                ["sha256=", "version="].first { parameter.hasPrefix($0) }.map { String(parameter.dropFirst($0.count)) }
            }.first
        isHead = head.method == .HEAD
        conditions = ConditionalRequest(
            ifMatch: Self.joined("if-match", head), ifNoneMatch: Self.joined("if-none-match", head),
            ifModifiedSince: head.headers.first(name: "if-modified-since"),
            ifUnmodifiedSince: head.headers.first(name: "if-unmodified-since"),
            ifRange: head.headers.first(name: "if-range"), range: Self.joined("range", head))
    }

    /// Whether a page of another site opens this in a window. A download would tell it that there is such an archive.
    ///
    /// - Parameters:
    ///   - site: `Sec-Fetch-Site`.
    ///   - mode: `Sec-Fetch-Mode`.
    static func isNavigationFromElsewhere(site: String?, mode: String?) -> Bool {
        mode == "navigate" && site != nil && site != "same-origin" && site != "none"
    }

    /// Whether this file is the one asked for.
    func accepts(_ file: OpenArchiveFile) -> Bool {
        if let onlyID, file.archive.id != onlyID { return false }
        // Not the port of one that had the same id before.
        if onlyID != nil, let replayPort, replayPort.isKept, file.archive.port != replayPort.port { return false }
        guard let wantedKey else { return true }
        return [file.archive.sha256, file.archive.key, file.archive.provisionalKey].contains(wantedKey)
    }

    /// The values of a list field, as one. RFC 9110 §5.3.
    private static func joined(_ name: String, _ head: HTTPRequestHead) -> String? {
        let values = head.headers[name]
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    private static let prefix = "/archives/"
}
