import Foundation
import Testing

@testable import WebArchive

/// Lists the captures of every published archive, in its own index, in a sorted copy, and by reading it completely.
@Suite(.enabled(if: fixtures != nil, "REPLAYHOST_FIXTURES is not set"))
struct URLScanFixtureTests {
    /// The schemes of what crawlers write for themselves. Such lines, and those of ANVL, aren't captures.
    private static let notes = ["urn:", "metadata:"]

    /// The lines of the index files, read without the readers of index entries: URL, timestamp and offset.
    private static func plainLines(_ wacz: WACZFile) throws -> [String] {
        try wacz.indexEntries.flatMap { entry -> [String] in
            let bytes = try wacz.textStream(of: entry).readAll(limit: 64 << 20)
            return bytes.split { $0 == 0x0A || $0 == 0x0D }.compactMap { line in
                // CDXJ is UTF-8; other lines aren't captures.
                guard let line = String(validating: line, as: UTF8.self), let brace = line.firstIndex(of: "{"),
                    !line.hasPrefix("!meta"),
                    let members = try? JSONSerialization.jsonObject(with: Data(line[brace...].utf8)) as? [String: Any],
                    let url = members["url"] as? String, !notes.contains(where: url.hasPrefix),
                    members["mime"] as? String != "text/anvl",
                    let offset = members["offset"].map({ "\($0)" })
                else { return nil }
                let parts = line.split(separator: " ")
                return "\(url) \(parts[1]) \(offset)"
            }
        }.sorted()
    }

    private static func list(_ wacz: WACZFile, _ filter: URLFilter, pageSize: Int = .max) throws -> [String] {
        var list: [String] = []
        var position: URLScan.Position?
        while true {
            let scan = URLScan(
                filter, sources: [CDXQuerySource(name: "a", wacz: wacz)], from: position,
                temporaryFolder: NSTemporaryDirectory())
            for _ in 0..<pageSize {
                guard case .capture(let entry, _) = try scan.next() else { return list }
                list.append("\(entry.url) \(entry.timestamp) \(entry.offset)")
            }
            position = scan.returned
        }
    }

    @Test(arguments: FixtureLookupTests.files)
    func listsEveryIndexLine(_ file: String) throws {
        // Other tests cover archives that can't be opened or read.
        guard let wacz = try? WACZFile.open(path: "\(fixtures ?? "")/\(file)"), !wacz.indexEntries.isEmpty,
            let plain = try? Self.plainLines(wacz), !plain.isEmpty
        else { return }
        let reader = wacz.makeCaptureReader()
        do { while try reader.next() != nil {} } catch { return }
        // Such an index isn't searched in place.
        let isSearched = reader.filesWithOtherRecords.isEmpty
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("scan-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try ZipNumWriter.write(from: wacz, to: folder, stem: "copy")
        let copy = try wacz.using(indexes: [
            .zipNum(
                try ZipNumIndex(
                    idx: FileByteSource(path: "\(folder)/copy.idx"),
                    blocks: FileByteSource(path: "\(folder)/copy.cdx.gz")))
        ])
        let fault = IndexFault()
        fault.note(SequentialReason(.unsorted, file: "indexes/", "for this test"))
        let sequential = wacz.sharing(fault)
        let sorted = try Self.list(copy, URLFilter())
        #expect(sorted.sorted() == plain)
        #expect(try Self.list(sequential, URLFilter()) == sorted)
        for (archive, isSearched) in [(wacz, true), (copy, true), (sequential, false)].dropFirst(isSearched ? 0 : 1) {
            let whole = try Self.list(archive, URLFilter())
            #expect(whole.sorted() == plain)
            for size in [1, 2, 7, 100] where plain.count < size * (isSearched ? 200 : 20) {
                #expect(try Self.list(archive, URLFilter(), pageSize: size) == whole, "page size \(size)")
            }
            var filter = URLFilter()
            filter.text = "O"
            #expect(
                try Self.list(archive, filter, pageSize: 100).sorted()
                    == plain.filter { $0.split(separator: " ").dropLast(2).joined().lowercased().contains("o") })
        }
    }
}
