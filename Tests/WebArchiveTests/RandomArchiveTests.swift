import Foundation
import Testing

@testable import WebArchive

/// Archives of random records are read back as they were written.
///
/// `ARCHIVES` sets their number, `SEED` the first seed, and `ARCHIVES_FOLDER` keeps them for other tools (`make soak`).
struct RandomArchiveTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["ARCHIVES"].flatMap { Int($0) } ?? 40
    private static let seed = environment["SEED"].flatMap { UInt64($0) } ?? 18

    private struct Written {
        let record: WARCWriter.Record
        let block: [UInt8]
    }

    private static func records(_ generator: inout SeededGenerator) throws -> [Written] {
        try (0..<Int.random(in: 0...12, using: &generator)).map { number in
            let type = ["response", "response", "response", "resource", "metadata", "warcinfo"].randomElement(
                using: &generator)
            let path = String(
                (0..<Int.random(in: 0...30, using: &generator)).map { _ in
                    "abcXYZ019-._~/?&=%+üß漢😀 \"\\<>".randomElement(using: &generator) ?? "a"
                })
            let port = Bool.random(using: &generator) ? "" : ":\(Int.random(in: 1...65_535, using: &generator))"
            let url = "http\(Bool.random(using: &generator) ? "s" : "")://host\(number).example\(port)/\(path)."
            let milliseconds = Int64.random(in: 0...4_000_000_000_000, using: &generator)
            let time = try #require(CaptureTimestamp(millisecondsSince1970: milliseconds))
            let isHTTP = type == "response"
            let mime = ["text/html", "image/png", "text/css; charset=utf-8"].randomElement(using: &generator) ?? ""
            let status = [200, 301, 404].randomElement(using: &generator) ?? 200
            let head = isHTTP ? "HTTP/1.1 \(status) OK\r\nContent-Type: \(mime)\r\n\r\n" : ""
            let size = Int.random(in: 0...(number == 3 ? 300_000 : 3000), using: &generator)
            let body = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
            var record = WARCWriter.Record(
                type: type ?? "response", targetURI: type == "warcinfo" ? nil : url, date: time,
                contentType: isHTTP ? "application/http; msgtype=response" : mime)
            if Bool.random(using: &generator) {
                record.fields = [.init(name: "WARC-IP-Address", value: "192.0.2.\(number)")]
            }
            return Written(record: record, block: Array(head.utf8) + body)
        }
    }

    @Test func archivesAreReadBackAsTheyWereWritten() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "random-\(UInt64.random(in: 0 ... .max))")
            .path
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        for number in 0..<Self.count {
            var generator = SeededGenerator(state: Self.seed + UInt64(number))
            let path = "\(Self.environment["ARCHIVES_FOLDER"] ?? root)/\(number).wacz"
            let written = try write(to: path, root, &generator)
            try check(path, written, number)
            if Self.environment["ARCHIVES_FOLDER"] == nil { try FileManager.default.removeItem(atPath: path) }
        }
    }

    private func write(
        to path: String, _ folder: String, _ generator: inout SeededGenerator
    ) throws -> [(name: String, records: [Written])] {
        let writer = try WACZWriter(path: path)
        var written: [(String, [Written])] = []
        for number in 0..<Int.random(in: 1...3, using: &generator) {
            let compresses = Bool.random(using: &generator)
            let name = "part-\(number).warc\(compresses ? ".gz" : "")"
            let records = try Self.records(&generator)
            let warc = try WARCWriter(path: "\(folder)/\(name)", compresses: compresses)
            for item in records {
                let head =
                    item.record.type == "response"
                    ? item.block[...].firstRange(ofBytes: Array("\r\n\r\n".utf8))?.upperBound : 0
                try warc.write(
                    item.record, block: MemoryByteSource(item.block, name: name),
                    payloadStart: item.record.type == "warcinfo" ? nil : UInt64(head ?? 0))
            }
            try warc.finish()
            try writer.addWARC(FileByteSource(path: "\(folder)/\(name)"), name: name)
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
            written.append((name, records))
        }
        let captures = written.flatMap(\.1).count { ["response", "resource"].contains($0.record.type) }
        let result = try writer.finish()
        #expect(result.captureCount == captures && result.findings.isEmpty)
        return written
    }

    private func check(_ path: String, _ written: [(name: String, records: [Written])], _ number: Int) throws {
        let wacz = try WACZFile.open(FileByteSource(path: path))
        var listed: [String: CDXJEntry] = [:]
        let findings = try wacz.forEachIndexEntry { entry, _ in
            listed["\(entry.filename) \(entry.offset)"] = entry
            return true
        }
        var captures = 0
        for (name, records) in written {
            let entry = try #require(wacz.warcEntry(named: name))
            let scanner = try WARCReader(entry: entry, of: wacz.directory, Allowance(archiveSize: 0)).makeScanner()
            for item in records {
                let found = try #require(try scanner.next()).record
                let block = try found.openBlock().readAll(limit: 1 << 20)
                let isSame =
                    found.type == item.record.type && found.targetURI == item.record.targetURI
                    && found.timestamp == item.record.date && block == item.block
                    && found.headers["WARC-IP-Address"] == item.record.fields.first?.value
                #expect(isSame, "archive \(number), \(name) byte \(found.offset)")
                guard ["response", "resource"].contains(found.type) else { continue }
                captures += 1
                let line = try #require(listed["\(name) \(found.offset)"])
                #expect(line.url == item.record.targetURI && line.timestamp == item.record.date.digits14)
                #expect(
                    try wacz.captures(ofURL: line.url).contains(line),
                    "not found: \(line.urlKey) \(line.url.debugDescription)")
            }
            #expect(try scanner.next() == nil && scanner.findings.isEmpty)
        }
        #expect(listed.count == captures)
        #expect(findings.map(\.code) == (captures == 0 ? ["index-empty"] : []))
    }
}
