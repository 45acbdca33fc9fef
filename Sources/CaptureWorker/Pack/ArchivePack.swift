import ArchiveStore
import CaptureAPI
import Foundation
import WebArchive

/// Packs the files of an attempt as one WACZ.
package struct ArchivePack {
    let session: WorkerSession
    let title: String
    /// The name of the media file or document, after which the archive is named.
    let fileName: String
    let time: CaptureTimestamp

    /// The names of WARC files.
    private static let records = "data.warc.gz"
    private static let media = "media.warc"

    var order: JobOrder { session.order }

    /// The URL below which everything is that no site sent. RFC 6761 §6.4: `.invalid` never resolves.
    private var base: String { "\(Self.ownPrefix)\(order.downloadID)/" }
    package static let ownPrefix = "https://replayhost.invalid/"

    /// Writes the archive of a medium: its file, uncompressed, and a page that plays it.
    ///
    /// - Parameters:
    ///   - recorded: The page on which the medium is; `nil` if it's missing.
    ///   - incomplete: What is missing; `nil` if nothing is.
    func pack(_ files: MediaAttempt.Files, _ recorded: RecordedPage? = nil, incomplete: String? = nil) throws {
        let page = ViewerPage(files: files, url: order.url, time: time)
        let writer = try WACZWriter(path: path, modified: time)
        var media = record("resource", base + page.mediaName, page.mediaType)
        media.id = Self.newID()
        try addRecords(to: writer) { warc in
            try write(page.html, "text/html; charset=utf-8", as: "", to: warc)
            for track in page.tracks {
                try write(file: track.path, "text/vtt; charset=utf-8", as: track.name, to: warc)
            }
            if let poster = files.poster {
                try write(file: poster, "image/jpeg", as: ViewerPage.posterName, to: warc)
                try writePicture(poster, "image/jpeg", to: warc)
            }
            try write(files.info.json, "application/json", as: "info.json", to: warc)
            try writeOrigin("yt-dlp", files.info.extractor, to: warc)
            if let recorded { try write(recorded, to: warc, besides: [(files.media, media)]) }
        }
        let source = try FileByteSource(path: files.media)
        try writer.addWARC(
            WARCWriter.file(of: media, block: source, name: Self.media) { session.report(WorkerMessage()) },
            name: Self.media, detectsPages: false
        ) { _ in session.report(WorkerMessage()) }
        try writer.addPage(url: base, time: time, title: title, text: page.text)
        if let recorded { try add(recorded, to: writer) }
        try finish(writer, mainPage: base, incomplete: incomplete)
    }

    /// Writes the archive of a photo post: its images and a page that shows them.
    ///
    /// - Parameters:
    ///   - recorded: The page of the post; `nil` if it's missing.
    ///   - incomplete: What is missing; `nil` if nothing is.
    func pack(_ files: PhotoAttempt.Files, _ recorded: RecordedPage?, incomplete: String?) throws {
        let page = PhotoPage(files: files, url: order.url, time: time)
        let writer = try WACZWriter(path: path, modified: time)
        try addRecords(to: writer) { warc in
            try write(page.html, "text/html; charset=utf-8", as: "", to: warc)
            var photos: [(path: String, record: WARCWriter.Record)] = []
            for photo in page.photos {
                var resource = record("resource", base + photo.name, photo.type)
                resource.id = Self.newID()
                try warc.write(resource, block: FileByteSource(path: photo.path))
                photos.append((photo.path, resource))
            }
            if let first = page.photos.first { try writePicture(first.path, first.type, to: warc) }
            try writeOrigin("gallery-dl", files.extractor, to: warc)
            if let recorded { try write(recorded, to: warc, besides: photos) }
        }
        try writer.addPage(url: base, time: time, title: title, text: page.text)
        if let recorded { try add(recorded, to: writer) }
        try finish(writer, mainPage: base, incomplete: incomplete)
    }

    /// Gives the page the picture that the library shows of it, by the names of Browsertrix; a large one as that of the whole window.
    private func writePicture(_ path: String, _ type: String, to warc: WARCWriter) throws {
        let kind = (Folder.fileSize(path) ?? 0) <= Self.thumbnailBytesMax ? "thumbnail" : "view"
        try warc.write(record("resource", "urn:\(kind):\(base)", type), block: FileByteSource(path: path))
    }

    private static let thumbnailBytesMax: UInt64 = 300_000

    /// Says where the records came from that no site sent.
    private func writeOrigin(_ tool: String, _ extractor: String?, to warc: WARCWriter) throws {
        var origin = record("metadata", base, "application/warc-fields")
        origin.fields = []
        let lines = [
            ("via", order.url), ("software", order.software), ("tool", tool), ("extractor", extractor ?? "unknown"),
        ]
        try warc.write(origin, block: Self.fields(lines), payloadStart: nil)
    }

    /// Writes the archive of a document: all requests and responses.
    func pack(_ files: DocumentAttempt.Files) throws {
        let writer = try WACZWriter(path: path, modified: time)
        try addRecords(to: writer) { warc in
            switch files.source {
            case .curl(let exchanges): for exchange in exchanges { try write(exchange, to: warc) }
            case .browser(let exchanges): try write(exchanges, to: warc)
            }
        }
        try writer.addPage(url: order.url, time: time, title: title)
        try finish(writer, mainPage: order.url)
    }

    var path: String { "\(session.folder)/\((fileName as NSString).deletingPathExtension).wacz" }

    /// - Parameter incomplete: What is missing; `nil` if nothing is.
    func finish(
        _ writer: WACZWriter, mainPage: String, at pageTime: CaptureTimestamp? = nil, incomplete: String? = nil
    ) throws {
        let login = order.hasCookies ? "Saved with a log-in. Cookies and log-in data are left out." : nil
        let notes = [incomplete, login].compactMap { $0 }
        var description = PackageDescription()
        description.title = title
        description.description = (["Saved from \(order.url)\(notes.isEmpty ? "" : ".")"] + notes).joined(
            separator: " ")
        description.created = time
        description.software = order.software
        description.mainPage = .init(url: mainPage, time: pageTime ?? time)
        _ = try writer.finish(description)
    }

    /// Adds a compressed WARC file.
    func addRecords(to writer: WACZWriter, _ body: (WARCWriter) throws -> Void) throws {
        let path = "\(session.parts)/\(Self.records)"
        unlink(path)
        let warc = try WARCWriter(path: path)
        let lines = [
            ("software", order.software), ("format", "WARC File Format 1.1"), ("robots", "ignored"),
            ("isPartOf", order.downloadID),
        ]
        try warc.write(record("warcinfo", nil, "application/warc-fields"), block: Self.fields(lines), payloadStart: nil)
        try body(warc)
        try warc.finish()
        try writer.addWARC(FileByteSource(path: path), name: Self.records, detectsPages: false) { _ in
            session.report(WorkerMessage())
        }
        unlink(path)
    }

    private func write(_ exchange: DocumentAttempt.Exchange, to warc: WARCWriter) throws {
        // What a site sets for a person who is logged in is a secret, too.
        let head = exchange.head.recordBytes(withCookies: !order.hasCookies)
        let block = JoinedByteSource(
            [MemoryByteSource(head, name: "head"), try FileByteSource(path: exchange.body)], name: "response")
        var response = record("response", exchange.url, "application/http; msgtype=response")
        response.fields = [.init(name: "WARC-Protocol", value: "http/1.1")]
        if let address = exchange.ipAddress, !address.isEmpty {
            response.fields.append(.init(name: "WARC-IP-Address", value: address))
        }
        let place = try warc.write(response, block: block, payloadStart: UInt64(head.count))
        var request = record("request", exchange.url, "application/http; msgtype=request")
        request.fields = [.init(name: "WARC-Concurrent-To", value: place.id)]
        let sent = Self.withoutSecrets(exchange.request)
        try warc.write(request, block: MemoryByteSource(sent, name: "request"), payloadStart: UInt64(sent.count))
    }

    /// Cookies and log-ins never get into a record.
    static func withoutSecrets(_ request: [UInt8]) -> [UInt8] {
        let lines = String(decoding: request, as: UTF8.self).components(separatedBy: "\r\n")
        let secrets = ["cookie:", "authorization:", "proxy-authorization:"]
        let kept = lines.filter { line in !secrets.contains(where: line.lowercased().hasPrefix) }
        return Array(kept.joined(separator: "\r\n").utf8)
    }

    private func write(_ bytes: [UInt8], _ type: String, as name: String, to warc: WARCWriter) throws {
        try warc.write(record("resource", base + name, type), block: MemoryByteSource(bytes, name: name))
    }

    private func write(file: String, _ type: String, as name: String, to warc: WARCWriter) throws {
        try warc.write(record("resource", base + name, type), block: FileByteSource(path: file))
    }

    static func newID() -> String { "<urn:uuid:\(UUID().uuidString.lowercased())>" }

    func record(_ type: String, _ url: String?, _ contentType: String) -> WARCWriter.Record {
        WARCWriter.Record(type: type, targetURI: url, date: time, contentType: contentType)
    }

    /// A block of named fields. WARC 1.1 §6.2, §6.7.
    private static func fields(_ lines: [(String, String)]) -> MemoryByteSource {
        MemoryByteSource(Array(lines.map { "\($0.0): \($0.1)\r\n" }.joined().utf8), name: "fields")
    }
}
