import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Poppler's `pdftotext` is installed for tests by `Scripts/setup --tests`.
struct PDFTextTests {
    typealias Record = RecordedArchive.Record

    /// A page with "Coral reef handbook", written by hand after ISO 32000-1.
    private static let plain =
        "JVBERi0xLjQKMSAwIG9iago8PC9UeXBlL0NhdGFsb2cvUGFnZXMgMiAwIFI+PgplbmRvYmoKMiAwIG9iago8PC9UeXBlL1Bh"
        + "Z2VzL0tpZHNbMyAwIFJdL0NvdW50IDE+PgplbmRvYmoKMyAwIG9iago8PC9UeXBlL1BhZ2UvUGFyZW50IDIgMCBSL01lZGlh"
        + "Qm94WzAgMCAzMDAgMTAwXS9Db250ZW50cyA0IDAgUi9SZXNvdXJjZXM8PC9Gb250PDwvRjEgNSAwIFI+Pj4+Pj4KZW5kb2Jq"
        + "CjQgMCBvYmoKPDwvTGVuZ3RoIDQ5Pj4Kc3RyZWFtCkJUIC9GMSAxOCBUZiAyMCA1MCBUZCAoQ29yYWwgcmVlZiBoYW5kYm9v"
        + "aykgVGogRVQKZW5kc3RyZWFtCmVuZG9iago1IDAgb2JqCjw8L1R5cGUvRm9udC9TdWJ0eXBlL1R5cGUxL0Jhc2VGb250L0hl"
        + "bHZldGljYT4+CmVuZG9iagp4cmVmCjAgNgowMDAwMDAwMDAwIDY1NTM1IGYgCjAwMDAwMDAwMDkgMDAwMDAgbiAKMDAwMDAw"
        + "MDA1NCAwMDAwMCBuIAowMDAwMDAwMTA1IDAwMDAwIG4gCjAwMDAwMDAyMTcgMDAwMDAgbiAKMDAwMDAwMDMxNCAwMDAwMCBu"
        + "IAp0cmFpbGVyCjw8L1NpemUgNi9Sb290IDEgMCBSPj4Kc3RhcnR4cmVmCjM3NwolJUVPRgo="

    /// The same, encrypted by qpdf 11.3 with a user password.
    private static let encrypted =
        "JVBERi0xLjQKJb/3ov4KMSAwIG9iago8PCAvUGFnZXMgMiAwIFIgL1R5cGUgL0NhdGFsb2cgPj4KZW5kb2JqCjIgMCBvYmoK"
        + "PDwgL0NvdW50IDEgL0tpZHMgWyAzIDAgUiBdIC9UeXBlIC9QYWdlcyA+PgplbmRvYmoKMyAwIG9iago8PCAvQ29udGVudHMg"
        + "NCAwIFIgL01lZGlhQm94IFsgMCAwIDMwMCAxMDAgXSAvUGFyZW50IDIgMCBSIC9SZXNvdXJjZXMgPDwgL0ZvbnQgPDwgL0Yx"
        + "IDUgMCBSID4+ID4+IC9UeXBlIC9QYWdlID4+CmVuZG9iago0IDAgb2JqCjw8IC9MZW5ndGggNTcgL0ZpbHRlciAvRmxhdGVE"
        + "ZWNvZGUgPj4Kc3RyZWFtCgHTN2nsSXOKvYvD1pYHNSrtQ+/9cTym8wEb1xsx6Fcfps/ax3f5kVCSkLNFw6mdM1aXPNQruJ8q"
        + "9mVuZHN0cmVhbQplbmRvYmoKNSAwIG9iago8PCAvQmFzZUZvbnQgL0hlbHZldGljYSAvU3VidHlwZSAvVHlwZTEgL1R5cGUg"
        + "L0ZvbnQgPj4KZW5kb2JqCjYgMCBvYmoKPDwgL0ZpbHRlciAvU3RhbmRhcmQgL0xlbmd0aCA0MCAvTyA8OTRlODA5NDQxOTY2"
        + "MmE3NzQ0NDJmYjA3MmUzZDlmMTllOWQxMzBlYzA5YTRkMDA2MWU3OGZlOTIwZjdhYjYyZj4gL1AgLTQgL1IgMiAvVSA8YmQ3"
        + "ZjAwZjJjZjk0ODFmODI1NjJkYWU5ZjVhYzYxZDU2ZDlhODdkODU3ZDU1ZmVhOGU4ZGIzMTNiYjMxNGJkZj4gL1YgMSA+Pgpl"
        + "bmRvYmoKeHJlZgowIDcKMDAwMDAwMDAwMCA2NTUzNSBmIAowMDAwMDAwMDE1IDAwMDAwIG4gCjAwMDAwMDAwNjQgMDAwMDAg"
        + "biAKMDAwMDAwMDEyMyAwMDAwMCBuIAowMDAwMDAwMjUxIDAwMDAwIG4gCjAwMDAwMDAzNzggMDAwMDAgbiAKMDAwMDAwMDQ0"
        + "OCAwMDAwMCBuIAp0cmFpbGVyIDw8IC9Sb290IDEgMCBSIC9TaXplIDcgL0lEIFs8MzI4NzAxZjU3MmI2ODY3ODc4Y2VlOGNk"
        + "NDM5NzA0YTk+PDMyODcwMWY1NzJiNjg2Nzg3OGNlZThjZDQzOTcwNGE5Pl0gL0VuY3J5cHQgNiAwIFIgPj4Kc3RhcnR4cmVm"
        + "CjY1NAolJUVPRgo="

    private static func record(_ name: String, _ bytes: [UInt8]) -> Record {
        Record("http://a.example/\(name).pdf").with {
            ($0.head, $0.body) = ("HTTP/1.1 200 OK\r\nContent-Type: application/pdf", bytes)
            $0.index = "\"mime\":\"application/pdf\",\"status\":\"200\""
        }
    }

    @Test func textOfPDFsIsFound() throws {
        let test = try TestStore()
        let plain = Array(try #require(Data(base64Encoded: Self.plain)))
        let archive = try test.add(
            [
                Self.record("plain", plain), Self.record("damaged", Array(plain.prefix(100))),
                Self.record("encrypted", Array(try #require(Data(base64Encoded: Self.encrypted)))),
                Self.record("empty", []), Record("http://a.example/", page("HTML", "coral")),
            ], id: "a")
        #expect(try test.found("\"reef handbook\"") == ["a.example/plain.pdf"])
        #expect(try test.found("coral type:pdf") == ["a.example/plain.pdf"])
        #expect(try test.found("type:pdf").count == 4)
        let text = try #require(try test.store.searcher.indexedText(of: archive))
        #expect(text.withText == 2)
        #expect(text.withoutText == ["encryptedPDF": 1, "unreadablePDF": 2])
        #expect(names(in: test.layout.incoming) == [])
    }
}
