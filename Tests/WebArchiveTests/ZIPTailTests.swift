import Testing

@testable import WebArchive

/// The end that replaces a ZIP's original one for the replay engine.
struct ZIPTailTests {
    private static let warc = ZIPBuilder.Entry("archive/data.warc", "WARC/1.1\r\nnot looked at here\r\n")
    private static let index = ZIPBuilder.Entry("indexes/index.cdx", String(repeating: "line\n", count: 500))

    /// Python's `zipfile` with `force_zip64` writes a local extra field of 20 bytes, and none in the directory.
    private static let localExtra = le16(1) + le16(16) + le64(30) + le64(30)

    private func open(_ bytes: [UInt8]) throws -> ZIPDirectory {
        try ZIPDirectory(source: MemoryByteSource(bytes, name: "test.wacz"))
    }

    /// Returns the file as the engine receives it.
    private func replaced(_ bytes: [UInt8], by tail: ZIPTail) -> [UInt8] {
        Array(bytes[..<Int(tail.offset)]) + tail.bytes
    }

    @Test func simpleZIPNeedsNoNewTail() throws {
        let bytes = ZIPBuilder([Self.warc, Self.index.with { $0.isDeflated = true }]).bytes()
        #expect(try open(bytes).simplifiedDirectory() == nil)
    }

    @Test func addsMissingCentralExtraField() throws {
        let bytes = ZIPBuilder([
            Self.warc.with { $0.localExtra = Self.localExtra }, Self.index.with { $0.isDeflated = true },
        ]).bytes()
        let original = try open(bytes)
        let tail = try #require(try original.simplifiedDirectory())
        let mended = try open(replaced(bytes, by: tail))
        #expect(mended.findings.isEmpty)
        #expect(mended.entries.map(\.name) == original.entries.map(\.name))
        for (old, new) in zip(original.entries, mended.entries) {
            #expect(new.centralExtraLength > 0)
            #expect(try mended.dataRange(of: new) == original.dataRange(of: old))
            #expect(
                try mended.contents(of: new, limit: 10_000) == original.contents(of: old, limit: 10_000))
        }
    }

    @Test func handlesBytesBeforeAndAfterTheZIP() throws {
        var builder = ZIPBuilder([Self.warc, Self.index])
        builder.prefix = Array("#!/bin/sh\n".utf8)
        builder.offsetsCountPrefix = false
        builder.trailing = [UInt8](repeating: 0, count: 1000)
        let bytes = builder.bytes()
        let tail = try #require(try open(bytes).simplifiedDirectory())
        let mended = try open(replaced(bytes, by: tail))
        #expect(mended.findings.isEmpty)
        let warc = try #require(mended.entry(named: "archive/data.warc"))
        #expect(try mended.contents(of: warc, limit: 1000) == Self.warc.content)
    }

    /// wabac.js 2.27.2: "Unknown package profile: wacz".
    @Test(arguments: [
        (#"{"profile": "wacz", "resources": [{"path": "archive/data.warc"}]}"#, true),
        (#"{"profile": "data-package"}"#, true), (#"{"profile": "#, true),
        (#"{"profile": "data-package", "resources": [{"path": "archive/data.warc"}]}"#, false),
        (#"{"resources": [{"path": "archive/data.warc"}]}"#, false),
    ])
    func hidesDescriptionsThatTheEngineRefuses(_ description: String, _ isHidden: Bool) throws {
        let bytes = ZIPBuilder([Self.warc, Self.index, .init("datapackage.json", description)]).bytes()
        let wacz = try WACZFile.open(MemoryByteSource(bytes, name: "test.wacz"))
        let tail = try wacz.simplifiedDirectory()
        #expect((tail != nil) == isHidden)
        guard let tail else { return }
        let mended = try open(replaced(bytes, by: tail))
        #expect(mended.entries.map(\.name) == ["archive/data.warc", "indexes/index.cdx"])
    }
}
