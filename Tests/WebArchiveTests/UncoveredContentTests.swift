import Testing

@testable import WebArchive

/// What a signed archive has besides what its signature covers: no one signed it, so nothing reads it. WACZ 1.1.1 §5.2: the
/// list of files has their hashes; "WACZ Signing and Verification" 0.1.0: the signature is of the hash of that list.
struct UncoveredContentTests {
    private static let forged = "http://bank.example/"
    private static let signature =
        "{\"path\":\"datapackage.json\",\"hash\":\"sha256:00\",\"signedData\":{\"signature\":\"AA==\",\"publicKey\":\"AA==\"}}"

    /// Files that someone added.
    private static let added: [ZIPBuilder.Entry] = {
        var record = ArchiveBuilder.Record()
        record.url = "http://bank.example/own"
        let (warc, ranges) = ArchiveBuilder.warc([record])
        let (_, own) = ArchiveBuilder.warc([ArchiveBuilder.Record()])
        return [
            .init("archive/evil.warc.gz", warc),
            .init(
                "indexes/evil.cdx",
                // A record of the signed WARC under another URL, and the added one.
                ArchiveBuilder.cdxjLine(forged, key: "example,bank)/", own[0])
                    + ArchiveBuilder.cdxjLine(record.url, key: "example,bank)/own", ranges[0], filename: "evil.warc.gz")
            ),
            .init("pages/evil.jsonl", ArchiveBuilder.pages.replacing("http://example.org/", with: forged)),
        ]
    }()

    private func hash(_ bytes: [UInt8]) -> String {
        var hasher = DigestHasher(.sha256)
        bytes.withUnsafeBytes { hasher.update($0) }
        return "sha256:\(hasher.digest.hex)"
    }

    /// A WACZ with the added files, whose list has the hashes of the others.
    private func archive(signed: Bool = true, lists: (ZIPBuilder.Entry) -> String? = { _ in nil }) throws -> WACZFile {
        var files = ArchiveBuilder.entries().filter { $0.name != Array("datapackage.json".utf8) }
        let resources = files.map {
            "{\"path\":\"\(String(decoding: $0.name, as: UTF8.self))\",\"hash\":\"\(hash($0.content))\"}"
        }
        let list = (resources + Self.added.compactMap(lists)).joined(separator: ",")
        files += Self.added
        files.append(
            .init(
                "datapackage.json", "{\"profile\":\"data-package\",\"wacz_version\":\"1.1.1\",\"resources\":[\(list)]}")
        )
        if signed { files.append(.init("datapackage-digest.json", Self.signature)) }
        return try ArchiveBuilder.open(ZIPBuilder(files).bytes())
    }

    private func urls(_ wacz: WACZFile) throws -> Set<String> {
        var urls: Set<String> = []
        try wacz.forEachIndexEntry { entry, _ in
            urls.insert(entry.url)
            return true
        }
        return urls
    }

    private func pages(_ wacz: WACZFile) throws -> Set<String> {
        var urls: Set<String> = []
        try wacz.forEachPage {
            urls.insert($0.url)
            return true
        }
        return urls
    }

    @Test func whatTheSignatureDoesNotCoverIsSetAside() throws {
        let wacz = try archive()
        #expect(wacz.uncoveredEntries.map(\.name) == ["archive/evil.warc.gz", "indexes/evil.cdx", "pages/evil.jsonl"])
        #expect(try urls(wacz) == ["http://example.org/", "http://example.org/two"])
        #expect(try pages(wacz) == ["http://example.org/"])
        #expect(
            try wacz.captures(ofURL: Self.forged).isEmpty && wacz.captures(ofURL: "http://bank.example/own").isEmpty)
        #expect(wacz.warcEntry(named: "evil.warc.gz") == nil && wacz.warcEntry(named: "archive/evil.warc.gz") == nil)
        #expect(Set(wacz.openFindings.map(\.code)) == ["content-uncovered"])
        #expect(wacz.openFindings.map(\.location) == wacz.uncoveredEntries.map(\.name))
        let result = try ArchiveVerifier(wacz, lookups: FileLookups(wacz)).run()
        #expect(VerificationCode(contents: result) == .uncovered)
        // A signature doesn't hide it, and it doesn't hide that a signature is wrong.
        #expect(VerificationCode(contents: .uncovered, signature: .signed) == .uncovered)
        #expect(VerificationCode(contents: .uncovered, signature: .invalidSignature) == .invalidSignature)
    }

    /// Replay by ranges reads the ZIP with the directory that the server gives it.
    @Test func engineDoesNotGetIt() throws {
        let wacz = try archive()
        let tail = try #require(try wacz.simplifiedDirectory())
        let start = try wacz.source.read(at: 0, count: Int(tail.offset))
        let names = try ArchiveBuilder.open(start + tail.bytes).directory.entries.map(\.name)
        #expect(names.contains("archive/data.warc.gz") && !names.contains { $0.contains("evil") })
    }

    @Test func withoutSignatureNothingIsSetAside() throws {
        let wacz = try archive(signed: false)
        #expect(wacz.uncoveredEntries.isEmpty && wacz.openFindings.isEmpty)
        #expect(try urls(wacz).contains(Self.forged) && pages(wacz).contains(Self.forged))
    }

    /// Without a hash, the list says nothing about the contents of a file.
    @Test(arguments: ["", ",\"hash\":\"\"", ",\"hash\":\"sha256:12\"", ",\"hash\":\"none:00\""])
    func listedWithoutHashIsNotCovered(hash: String) throws {
        let wacz = try archive { "{\"path\":\"\(String(decoding: $0.name, as: UTF8.self))\"\(hash)}" }
        #expect(wacz.uncoveredEntries.count == 3)
    }

    @Test func listedWithHashIsCovered() throws {
        let wacz = try archive {
            "{\"path\":\"\(String(decoding: $0.name, as: UTF8.self))\",\"hash\":\"\(hash($0.content))\"}"
        }
        #expect(wacz.uncoveredEntries.isEmpty && wacz.openFindings.isEmpty)
        #expect(try urls(wacz).contains(Self.forged))
    }

    /// A list of no WARC file would leave nothing. Then all is shown, with the warning.
    @Test func listOfNothingSetsNothingAside() throws {
        let files = ArchiveBuilder.entries() + [ZIPBuilder.Entry("datapackage-digest.json", Self.signature)]
        let wacz = try ArchiveBuilder.open(ZIPBuilder(files).bytes())
        #expect(wacz.uncoveredEntries.isEmpty && wacz.openFindings.map(\.code) == ["signature-covers-nothing"])
        let result = try ArchiveVerifier(wacz, lookups: FileLookups(wacz)).run()
        #expect(VerificationCode(contents: result) == .partly)
        #expect(try urls(wacz).count == 2)
    }
}
