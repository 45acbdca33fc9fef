import ArchiveStore
import ArgumentParser
import Foundation
import ReplayServer
import WebArchive

/// `replayhost get URL [ID…]`
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Write one capture to standard output: its body, its head or its whole WARC record.",
        discussion: """
            Of several captures the latest is taken, or the one closest to --at. Compressed bodies come decompressed.

            Example:
              replayhost get https://example.org/report.pdf --at 2023 > report.pdf
              replayhost get https://example.org/ crawl --head
            """)

    @Argument(help: "The URL, as captured; http and https are one.")
    var url: String

    @Argument(help: "Ids of the archives to look in, or unique beginnings of them; every archive when there is none.")
    var ids: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("The capture closest to this time: 4 to 17 digits, UTC.", valueName: "timestamp"))
    var at: String?

    @Flag(name: .long, help: "The archived status line and fields instead of the body.")
    var head = false

    @Flag(name: .long, help: "The whole WARC record, with its header, as it is in the archive but not compressed.")
    var record = false

    @Flag(name: .customLong("as-archived"), help: "Leave the body compressed as the server had sent it.")
    var asArchived = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        let urlBytesMax = Limits.standard.urlBytesMax
        if url.utf8.count > urlBytesMax {
            throw ValidationError("<url> has \(url.utf8.count) bytes; the limit is \(urlBytesMax)")
        }
        if url.isEmpty { throw ValidationError("<url> is empty; give the address of a captured page") }
        if let at, CaptureTimestamp(endOf: at) == nil {
            throw ValidationError("--at \"\(at)\" is not a time; give 4 to 17 digits of YYYYMMDDhhmmss")
        }
        if [head, record, asArchived, common.json].filter({ $0 }).count > 1 {
            throw ValidationError("--head, --record, --as-archived and --json exclude each other; give one of them")
        }
    }

    func run() throws {
        let store = try common.openExistingStore()
        let asked = try common.asked(ids, in: store)
        let request = ArchiveStore.CaptureRequest(
            url: CapturedURL.completed(url), time: at.flatMap { CaptureTimestamp(endOf: $0) })
        guard let capture = try capture(request, asked, in: store) else {
            throw StoreError(
                .notFound, "this address was not captured", place: request.url,
                hint: "`replayhost cdx \"*.HOST\"` lists what was captured of a host")
        }
        common.remark(
            "\(capture.archive.id): \(capture.entry.url), \(capture.entry.timestamp), status \(capture.status)")
        if common.json { return Terminal.write(Terminal.json(CaptureDescription(capture))) }
        if head { return writeHead(of: capture) }
        if record { return try writeRecord(of: capture, in: store) }
        let reader = try capture.body.open(decoded: !asArchived)
        while true {
            let bytes = try reader.read(upTo: Self.pieceBytes)
            if bytes.isEmpty { break }
            Terminal.writeBytes(bytes)
        }
    }

    /// Of a collection, with all its archives; of several archives, from the one that has the closest capture alone.
    private func capture(
        _ request: ArchiveStore.CaptureRequest, _ asked: [Replayable], in store: ArchiveStore
    ) throws -> OpenCapture? {
        if asked.count == 1 {
            return try store.resolver.openCapture(request, in: asked[0].archives, allowsFuzzyMatch: false)
        }
        guard let found = try store.resolver.closestCapture(request, in: asked.flatMap(\.archives)),
            let home = asked.first(where: { $0.archives.contains(found.archive) })
        else { return nil }
        return try store.resolver.openCapture(request, in: home.archives, allowsFuzzyMatch: false)
    }

    private func writeHead(of capture: OpenCapture) {
        // Words of an archived server: nothing in them may steer a terminal.
        Terminal.write(Terminal.safe("HTTP \(capture.status) \(capture.reason)"))
        for field in capture.fields.fields { Terminal.write(Terminal.safe("\(field.name): \(field.value)")) }
    }

    private func writeRecord(of capture: OpenCapture, in store: ArchiveStore) throws {
        let record = try store.openArchives.lookups(capture.archive).wacz.record(of: capture.entry)
        let fields = record.headers.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        Terminal.writeBytes(Array("WARC/\(record.version)\r\n\(fields)\r\n".utf8))
        try record.forEachChunk {
            Terminal.writeBytes(Array($0))
            return true
        }
    }

    private static let pieceBytes = 256 << 10
}

/// What `get --json` tells of a capture. Documented in `docs/json.md`.
private struct CaptureDescription: Encodable {
    private let capture: OpenCapture

    init(_ capture: OpenCapture) {
        self.capture = capture
    }

    private enum CodingKeys: String, CodingKey {
        case archive, url, timestamp, capturedAt, status, mime, length, encodings, revisitOf
    }

    private struct Place: Encodable {
        let archive: String
        let url: String
        let timestamp: String
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(capture.archive.id.text, forKey: .archive)
        try container.encode(capture.entry.url, forKey: .url)
        try container.encode(capture.entry.timestamp, forKey: .timestamp)
        try container.encodeIfPresent(RFC3339.text(ofTimestamp: capture.entry.timestamp), forKey: .capturedAt)
        try container.encode(capture.status, forKey: .status)
        try container.encodeIfPresent(capture.mime, forKey: .mime)
        try container.encodeIfPresent(capture.body.storedLength, forKey: .length)
        let codings = capture.body.codings.map(\.rawValue)
        if !codings.isEmpty { try container.encode(codings, forKey: .encodings) }
        try container.encodeIfPresent(
            capture.payloadCapture.map { Place(archive: $0.archiveID.text, url: $0.url, timestamp: $0.timestamp) },
            forKey: .revisitOf)
    }
}
