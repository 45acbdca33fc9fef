import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Title, tags and notes, which are saved in the sidecar first.
struct MetadataTests {
    @Test func sidecarMatchesCatalog() async throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: try test.file("a.wacz")).archive
        let words = ArchiveMetadata(title: "  A \u{7}title ", tags: ["b", " a ", "b", ""], notes: "Two\nlines ")
        let edited = try test.store.edit(archive.id, words)
        #expect((edited.title, edited.tags, edited.notes) == ("A  title", ["b", "a"], "Two\nlines "))
        #expect(try test.store.catalog.archive(id: archive.id) == edited)
        let saved = try Sidecar.read(at: test.layout.sidecar(archive.key)).entry
        #expect((saved.title, saved.tags, saved.notes) == ("A  title", ["b", "a"], "Two\nlines "))
        #expect(try test.store.edit(edited.id, ArchiveMetadata(notes: "")).title == "A  title")
        try await test.expectWhole()
        #expect(try test.store.repair() == RepairReport())
    }

    @Test(arguments: [
        ArchiveMetadata(title: ""), ArchiveMetadata(title: " \n"),
        ArchiveMetadata(title: String(repeating: "x", count: 1025)),
        ArchiveMetadata(tags: [String(repeating: "x", count: 201)]), ArchiveMetadata(tags: (0...100).map { "\($0)" }),
        ArchiveMetadata(notes: String(repeating: "x", count: 262_145)),
    ])
    func invalidMetadataIsRefused(_ words: ArchiveMetadata) throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: try test.file("a.wacz")).archive
        #expect(code { try test.store.edit(archive.id, words) } == .invalidMetadata)
        #expect(try test.store.catalog.allArchives() == [archive])
    }

    /// Killed between the sidecar and the catalog: the sidecar counts.
    @Test func newerSidecarIsApplied() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: try test.file("a.wacz")).archive
        var newer = archive
        (newer.title, newer.tags, newer.notes, newer.port) = ("Newer", ["t"], "n", 8200)
        try Sidecar(newer).write(to: test.layout.sidecar(archive.key))
        #expect(try test.store.repair().updated == [archive.id])
        #expect(try test.store.catalog.allArchives() == [newer])
        #expect(try test.store.repair() == RepairReport())
    }

    @Test func sidecarOfUnknownFormatIsNotChanged() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: try test.file("a.wacz")).archive
        let text = String(decoding: try contents(of: test.layout.sidecar(archive.key)), as: UTF8.self)
            .replacingOccurrences(of: "\"format\" : 2", with: "\"format\" : 3")
        try test.folder.write(text, to: "store/files/\(archive.key).json")
        #expect(try test.store.repair().problems.count == 1)
        #expect(String(decoding: try contents(of: test.layout.sidecar(archive.key)), as: UTF8.self) == text)
        #expect(try test.store.catalog.allArchives() == [archive])
    }

    /// A title of a site can be anything.
    @Test(arguments: [
        ("  A film\n", "A film"), ("", "Untitled"), ("\u{0}\t", "Untitled"), (String(repeating: "x", count: 1024), nil),
        (String(repeating: "👨‍👩‍👧‍👦", count: 300), nil), (String(repeating: "हिन्दी", count: 300), nil),
        (String(repeating: "e\u{301}", count: 2000), nil),
        ("a" + String(repeating: "\u{301}", count: 5000), "Untitled"),
    ])
    func titleFromElsewhereIsCutAtACharacter(_ text: String, _ expected: String?) throws {
        let title = ArchiveMetadata.title(from: text)
        #expect(try ArchiveMetadata(title: title).checked().title == title)
        if let expected { #expect(title == expected) } else { #expect(title.utf8.count > 1024 - 40) }
        if title.hasSuffix("…") { #expect(text.hasPrefix(title.dropLast())) }
    }
}
