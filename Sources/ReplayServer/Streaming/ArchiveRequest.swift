import ArchiveStore
import NIOHTTP1

/// A request for an archive's file, parsed from its head.
struct ArchiveRequest: Sendable {
    let file: OpenArchives.Request
    /// The only archive whose file is served, on a replay origin.
    let onlyID: ArchiveID?
    /// The replay port that the request came to.
    private let replayPort: HostPolicy.ReplayPort?
    /// `sha256=` in the query, or `version=` before the hash is known: only this version of the file is sent.
    let wantedKey: String?
    let isHead: Bool
    let conditions: ConditionalRequest

    /// Parses a request; `nil` if it isn't for an archive's file or isn't allowed on this host. The router reports the
    /// error.
    init?(_ head: HTTPRequestHead, hosts: HostPolicy) {
        guard head.method == .GET || head.method == .HEAD, head.uri.hasPrefix(Self.prefix) else { return nil }
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let last = parts[0].dropFirst(Self.prefix.count)
        let query = parts.count > 1 ? parts[1].split(separator: "&") : []
        let fetch = ["sec-fetch-site", "referer"].map { head.headers.first(name: $0) }
        guard !hosts.isFromElsewhere(site: fetch[0], referrer: fetch[1]) else { return nil }
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

    /// Whether this is the requested file.
    func accepts(_ file: OpenArchiveFile) -> Bool {
        if let onlyID, file.archive.id != onlyID { return false }
        // The port may belong to a removed archive with the same id.
        if onlyID != nil, let replayPort, replayPort.isKept, file.archive.port != replayPort.port { return false }
        guard let wantedKey else { return true }
        return [file.archive.sha256, file.archive.key, file.archive.provisionalKey].contains(wantedKey)
    }

    /// Returns the combined values of a list field. RFC 9110 §5.3.
    private static func joined(_ name: String, _ head: HTTPRequestHead) -> String? {
        let values = head.headers[name]
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    private static let prefix = "/archives/"
}
