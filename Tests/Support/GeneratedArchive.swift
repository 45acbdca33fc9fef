import CZlib

/// A generated WACZ with one WARC file, which contains a large record and a small record for each page.
///
/// Entries are uncompressed, except those that `layout` compresses.
package struct GeneratedArchive: Sendable {
    package struct Page: Sendable {
        package var url: String
        package var title: String?

        package init(url: String, title: String? = nil) {
            self.url = url
            self.title = title
        }
    }

    /// The layout of the index.
    package enum Layout: String, Sendable, CaseIterable {
        case plain
        case unsorted
        case missing
        case deflated
        /// Completely gzipped, without an `.idx` file.
        case gzipped
        /// Gzipped in blocks, with an `.idx` file.
        case zipNum
        /// Like `zipNum`, with the `.idx` file compressed in the ZIP, as in py-wacz.
        case zipNumDeflated
        /// Like `zipNum`, with a wrong digest of the first block.
        case zipNumOtherDigest
        /// Like `zipNum`, with an `.idx` file that isn't text.
        case zipNumGarbage
    }

    package var title: String?
    package var pages: [Page]
    /// The size of the large record's payload.
    package var payloadSize: Int
    /// The seed that makes otherwise equal archives differ.
    package var seed: UInt64
    package var layout: Layout
    /// The names and hashes of other files in `relation.requires`.
    package var requirements: [(filename: String, hash: String?)] = []
    /// Whether `datapackage.json` lists the files, without hashes. If not, this is a finding.
    package var listsResources = false

    package init(
        title: String? = "Generated", pages: [Page] = [Page(url: "http://example.org/", title: "Main")],
        payloadSize: Int = 0, seed: UInt64 = 1, layout: Layout = .plain
    ) {
        self.title = title
        self.layout = layout
        self.pages = pages
        self.payloadSize = payloadSize
        self.seed = seed
    }

    /// Returns the whole file.
    package func bytes() -> [UInt8] {
        var warc: [UInt8] = []
        var index: [String] = []
        for (number, page) in pages.enumerated() {
            let record = Self.record(page.url, Array("<title>\(page.title ?? "")</title>\(seed)".utf8))
            index.append(Self.indexLine(url: page.url, key: "org,example)/\(number)", warc.count, record.count))
            warc += record
        }
        if payloadSize > 0 {
            let record = Self.record("http://example.org/large", patternBytes(payloadSize, seed: seed))
            index.append(
                Self.indexLine(url: "http://example.org/large", key: "org,example)/large", warc.count, record.count))
            warc += record
        }
        let list = pages.map { page in
            "{\"url\":\"\(page.url)\",\"ts\":\"2024-01-02T03:04:05Z\""
                + (page.title.map { ",\"title\":\"\($0)\"" } ?? "") + "}\n"
        }
        let files =
            [Entry("archive/data.warc", warc), Self.pageList(list.joined())] + indexEntries(index.sorted())
        let resources = listsResources ? files.map { "{\"path\":\"\($0.name)\"}" } : []
        return Self.zip(files + [Self.dataPackage(title: title, requirements: requirements, resources: resources)])
    }

    private static func record(_ url: String, _ payload: [UInt8]) -> [UInt8] {
        var record = RecordedArchive.Record(url)
        record.head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: \(payload.count)"
        record.body = payload
        return record.bytes()
    }

    /// Returns `pages/pages.jsonl` with these lines after its header.
    static func pageList(_ lines: String = "") -> Entry {
        Entry("pages/pages.jsonl", Array(("{\"format\":\"json-pages-1.0\",\"id\":\"pages\"}\n" + lines).utf8))
    }

    /// Returns `datapackage.json`.
    static func dataPackage(
        title: String? = nil, requirements: [(filename: String, hash: String?)], resources: [String] = []
    ) -> Entry {
        let titleLine = title.map { "\"title\":\"\($0)\"," } ?? ""
        let required = requirements.map { requirement in
            let hash = requirement.hash.map { ",\"hash\":\"\($0)\"" } ?? ""
            return "{\"filename\":\"\(requirement.filename)\"\(hash)}"
        }
        let relation =
            required.isEmpty ? "" : "\"relation\":{\"requires\":[\(required.joined(separator: ","))]},"
        let package =
            "{\"profile\":\"data-package\",\(titleLine)\(relation)\"wacz_version\":\"1.1.1\","
            + "\"resources\":[\(resources.joined(separator: ","))]}"
        return Entry("datapackage.json", Array(package.utf8))
    }

    private static func indexLine(url: String, key: String, _ offset: Int, _ length: Int) -> String {
        "\(key) 20240102030405 {\"url\":\"\(url)\",\"mime\":\"text/html\",\"status\":200,"
            + "\"filename\":\"data.warc\",\"offset\":\(offset),\"length\":\(length)}\n"
    }

    /// A file of the ZIP.
    package struct Entry {
        package let name: String
        package let content: [UInt8]
        let isDeflated: Bool

        package init(_ name: String, _ content: [UInt8], isDeflated: Bool = false) {
            self.name = name
            self.content = content
            self.isDeflated = isDeflated
        }
    }

    /// Returns a multi-WACZ with the given files, optionally deflated, which lists their hashes if given.
    package static func packageOfPackages(
        title: String? = nil, _ members: [(name: String, bytes: [UInt8], sha256: String?)], areDeflated: Bool = false
    ) -> [UInt8] {
        let resources = members.map { member in
            let hash = member.sha256.map { ",\"hash\":\"sha256:\($0)\"" } ?? ""
            return "{\"name\":\"\(member.name)\",\"path\":\"\(member.name)\"\(hash)}"
        }
        let name = title.map { "\"title\":\"\($0)\"," } ?? ""
        let package =
            "{\"profile\":\"multi-wacz-package\",\(name)\"resources\":[\(resources.joined(separator: ","))]}"
        return zip(
            members.map { Entry($0.name, $0.bytes, isDeflated: areDeflated) }
                + [Entry("datapackage.json", Array(package.utf8))])
    }

    /// Returns a ZIP. APPNOTE.TXT 6.3.10, §4.3.
    package static func zip(_ entries: [Entry]) -> [UInt8] {
        var file: [UInt8] = []
        var directory: [UInt8] = []
        for entry in entries {
            let (name, content) = (entry.name, entry.content)
            let data = entry.isDeflated ? deflated(content, windowBits: -MAX_WBITS) : content
            let offset = UInt32(file.count)
            let checksum = UInt32(
                truncatingIfNeeded: content.withUnsafeBufferPointer { crc32(0, $0.baseAddress, uInt($0.count)) })
            let common =
                little(UInt16(20)) + little(UInt16(0)) + little(UInt16(entry.isDeflated ? 8 : 0))
                + little(UInt32(0x0021_0000)) + little(checksum) + little(UInt32(data.count))
                + little(UInt32(content.count))
                + little(UInt16(name.utf8.count)) + little(UInt16(0))
            file += little(UInt32(0x0403_4B50)) + common + Array(name.utf8) + data
            directory +=
                little(UInt32(0x0201_4B50)) + little(UInt16(0x031E)) + common + little(UInt16(0)) + little(UInt16(0))
                + little(UInt16(0)) + little(UInt32(0o100644 << 16)) + little(offset) + Array(name.utf8)
        }
        let start = UInt32(file.count)
        let count = UInt16(entries.count)
        return file + directory + little(UInt32(0x0605_4B50)) + little(UInt16(0)) + little(UInt16(0)) + little(count)
            + little(count) + little(UInt32(directory.count)) + little(start) + little(UInt16(0))
    }

    private static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
