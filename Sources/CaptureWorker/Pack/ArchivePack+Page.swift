import ArchiveStore
import CaptureAPI
import Foundation
import WebArchive

extension ArchivePack {
    /// Writes the archive of a page: all requests and responses, its text and its images.
    ///
    /// - Parameter incomplete: What is missing; `nil` if nothing is.
    func pack(_ page: RecordedPage, incomplete: String?) throws {
        let writer = try WACZWriter(path: path, modified: time)
        try addRecords(to: writer) { try write(page, to: $0) }
        try add(page, to: writer)
        try finish(writer, mainPage: page.url, at: page.time, incomplete: incomplete)
    }

    /// - Parameter files: Files that the archive has anyway, each with its record: what the page got of them is a revisit.
    func write(
        _ page: RecordedPage, to warc: WARCWriter, besides files: [(path: String, record: WARCWriter.Record)] = []
    ) throws {
        var records = PageRecords(pack: self, warc: warc, pageID: WACZWriter.pageID(url: page.url, time: page.time))
        for file in files { try records.note(file.path, file.record) }
        for exchange in page.exchanges { try records.write(exchange) }
        try records.write(page)
    }

    /// Writes what a browser received of something that isn't a page.
    func write(_ exchanges: [RecordedExchange], to warc: WARCWriter) throws {
        var records = PageRecords(pack: self, warc: warc, pageID: WACZWriter.pageID(url: order.url, time: time))
        for exchange in exchanges { try records.write(exchange) }
    }

    /// Lists a page that was recorded.
    func add(_ page: RecordedPage, to writer: WACZWriter) throws {
        let title = Attempt.title(page.title.isEmpty ? WebURL(page.url)?.host ?? "" : page.title)
        try writer.addPage(url: page.url, time: page.time, title: title, text: page.text)
    }
}

/// Writes the records of a page. WARC 1.1 §6; browsertrix-crawler names the further fields and records.
private struct PageRecords {
    let pack: ArchivePack
    let warc: WARCWriter
    let pageID: String

    private struct Payload {
        let id: String
        let url: String
        let date: CaptureTimestamp
    }

    /// The first record of each payload, by its SHA-256.
    private var payloads: [String: Payload] = [:]
    /// The guard's record is read once for each host.
    private var addresses: [String: String] = [:]

    init(pack: ArchivePack, warc: WARCWriter, pageID: String) {
        (self.pack, self.warc, self.pageID) = (pack, warc, pageID)
    }

    /// Notes a file that is the payload of a record.
    mutating func note(_ path: String, _ record: WARCWriter.Record) throws {
        guard let id = record.id, let url = record.targetURI else { return }
        payloads[try Self.digest(path)] = Payload(id: id, url: url, date: record.date)
    }

    private static func digest(_ path: String) throws -> String {
        try FileHash.of(Descriptor(path: path, flags: O_RDONLY)) { _ in }.sha256
    }

    /// Writes a response, or a revisit record if its payload is in the file already, and the request.
    mutating func write(_ exchange: RecordedExchange) throws {
        pack.session.report(WorkerMessage())
        let isPublic = !pack.order.hasCookies
        let size = exchange.body.flatMap { Folder.fileSize($0) } ?? 0
        let head = exchange.head.recordBytes(
            withCookies: isPublic, decodedSize: exchange.isDecoded && exchange.body != nil ? size : nil)
        var record = pack.record("response", exchange.url, "application/http; msgtype=response")
        record.date = exchange.time
        record.id = ArchivePack.newID()
        record.fields = fields(of: exchange)
        let digest = try exchange.body.map(Self.digest)
        if let digest, let first = payloads[digest] {
            record.type = "revisit"
            record.fields += [
                .init(name: "WARC-Profile", value: "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"),
                .init(name: "WARC-Refers-To", value: first.id),
                .init(name: "WARC-Refers-To-Target-URI", value: first.url),
                .init(name: "WARC-Refers-To-Date", value: first.date.rfc3339),
                .init(name: "WARC-Payload-Digest", value: "sha256:\(digest)"),
            ]
            try warc.write(record, block: MemoryByteSource(head, name: "head"), payloadStart: nil)
        } else {
            var parts: [any ByteSource] = [MemoryByteSource(head, name: "head")]
            if let body = exchange.body { parts.append(try FileByteSource(path: body)) }
            try warc.write(record, block: JoinedByteSource(parts, name: "response"), payloadStart: UInt64(head.count))
            if let digest, let id = record.id, exchange.truncated == nil {
                payloads[digest] = Payload(id: id, url: exchange.url, date: exchange.time)
            }
        }
        var request = pack.record("request", exchange.url, "application/http; msgtype=request")
        request.date = exchange.time
        request.id = ArchivePack.newID()
        request.fields = [.init(name: "WARC-Concurrent-To", value: record.id ?? "")]
        let sent = isPublic ? exchange.request : ArchivePack.withoutSecrets(exchange.request)
        try warc.write(
            request, block: MemoryByteSource(sent + exchange.requestBody, name: "request"),
            payloadStart: UInt64(sent.count))
    }

    private mutating func fields(of exchange: RecordedExchange) -> [HeaderFields.Field] {
        var fields = exchange.protocols.map { HeaderFields.Field(name: "WARC-Protocol", value: $0) }
        let parts = exchange.url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        let origin = parts.prefix(3).joined(separator: "/")
        let address = addresses[origin] ?? pack.session.egress.address(of: exchange.url) ?? ""
        addresses[origin] = address
        if !address.isEmpty { fields.append(.init(name: "WARC-IP-Address", value: address)) }
        fields.append(.init(name: "WARC-Page-ID", value: pageID))
        fields.append(.init(name: "WARC-Resource-Type", value: exchange.resourceType))
        if let reason = exchange.truncated { fields.append(.init(name: "WARC-Truncated", value: reason)) }
        if let issuer = exchange.certificate?.issuer, let json = try? JSONEncoder().encode(["cert": ["issuer": issuer]])
        {
            fields.append(.init(name: "WARC-JSON-Metadata", value: String(decoding: json, as: UTF8.self)))
        }
        return fields
    }

    /// Writes what isn't of a site: the list of requests, the text and the images.
    func write(_ page: RecordedPage) throws {
        var info = PageInfo(pageid: pageID, url: page.url, ts: page.time.rfc3339, urls: page.resources)
        info.counts.jsErrors = page.errorCount
        let json = MemoryByteSource(try JSONText.encoded(info), name: "pageinfo")
        try write("pageinfo", page, "application/json", json)
        try write("text", page, "text/plain", MemoryByteSource(Array(page.text.utf8), name: "text"))
        if let view = page.view { try write("view", page, "image/png", FileByteSource(path: view)) }
        if let thumbnail = page.thumbnail {
            try write("thumbnail", page, "image/jpeg", FileByteSource(path: thumbnail))
        }
    }

    private func write(_ kind: String, _ page: RecordedPage, _ type: String, _ content: any ByteSource) throws {
        var record = pack.record("resource", "urn:\(kind):\(page.url)", type)
        record.date = page.time
        record.fields = [
            .init(name: "WARC-Page-ID", value: pageID), .init(name: "WARC-Resource-Type", value: kind),
        ]
        try warc.write(record, block: content)
    }
}
