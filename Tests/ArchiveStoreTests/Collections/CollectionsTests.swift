import Foundation
import GRDB
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Storing collections, and replaying archives together.
struct CollectionsTests {
    typealias Record = RecordedArchive.Record

    private func filled() throws -> (test: TestStore, ids: [ArchiveID]) {
        let test = try TestStore()
        let ids = try (1...3).map {
            try test.store.importFile(at: try test.file("a\($0).wacz", seed: UInt64($0))).archive.id
        }
        return (test, ids)
    }

    @Test func collectionIsSavedInDocument() async throws {
        let (test, ids) = try filled()
        let collection = try test.store.collections.make(
            title: "Two of them", members: [ids[0], ids[1], ids[0]], metadata: ArchiveMetadata(tags: ["t"], notes: "n"))
        #expect(collection.id.text == "two-of-them")
        #expect(collection.members == [ids[0], ids[1]])
        let document = try contents(of: test.layout.collection(collection.id))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(document)) as? [String: Any])
        #expect(json["members"] as? [String] == ["a1", "a2"])
        #expect(json["title"] as? String == "Two of them")
        #expect(try test.store.collections.all() == [collection])
        let edited = try test.store.collections.edit(collection.id, ArchiveMetadata(title: "New")) { $0 + [ids[2]] }
        #expect((edited.title, edited.tags, edited.members) == ("New", ["t"], ids))
        #expect(try test.store.collections.collection(id: collection.id) == edited)
        try await test.expectWhole()
        try test.store.collections.remove(collection.id)
        #expect(try test.store.collections.all().isEmpty)
        #expect(try test.store.catalog.allArchives().count == 3)
        try await test.expectWhole()
    }

    @Test func collectionsAndArchivesShareIDs() throws {
        let (test, ids) = try filled()
        #expect(code { _ = try test.store.collections.make(id: ids[0], title: "x", members: []) } == .taken)
        let collection = try test.store.collections.make(title: "new", members: ids)
        #expect(try test.store.importFile(at: try test.file("new.wacz", seed: 9)).archive.id.text == "new-2")
        #expect(code { _ = try test.store.collections.make(title: "y", members: [collection.id]) } == .notFound)
        #expect(try test.store.collections.make(title: "a1", members: []).id.text == "a1-2")
    }

    /// Each capture of a collection asks for its members. They are read once, until the catalog changes.
    @Test func membersAreReadOnce() throws {
        let (test, ids) = try filled()
        let collection = try test.store.collections.make(title: "g", members: ids)
        func titles() throws -> [String]? {
            try test.store.resolver.replayable(id: collection.id)?.archives.map(\.title)
        }
        #expect(try titles() == Array(repeating: TestStore.title, count: 3))
        // A change that isn't counted, so that it shows whether the rows are read.
        try test.store.catalog.writing { database in
            try database.execute(
                sql: "DROP TRIGGER archiveUpdate; UPDATE archive SET title = 'b' WHERE id = ?", arguments: [ids[1]])
        }
        #expect(try titles()?[1] == TestStore.title)
        try test.store.collections.edit(collection.id, ArchiveMetadata(notes: "n"))
        #expect(try titles() == [TestStore.title, "b", TestStore.title])
        try test.store.remove(ids[0])
        #expect(try titles() == ["b", TestStore.title])
        try test.store.collections.remove(collection.id)
        #expect(try titles() == nil)
    }

    @Test func removedArchiveLeavesCollections() async throws {
        let (test, ids) = try filled()
        let collection = try test.store.collections.make(title: "g", members: ids)
        try test.store.remove(ids[1])
        #expect(try test.store.collections.collection(id: collection.id)?.members == [ids[0], ids[2]])
        // A new archive with the same id isn't in the collection.
        #expect(try test.store.importFile(at: try test.file("a2.wacz", seed: 77)).archive.id == ids[1])
        #expect(try test.store.collections.collection(id: collection.id)?.members == [ids[0], ids[2]])
        try await test.expectWhole()
    }

    @Test func documentIsAuthoritative() async throws {
        let (test, ids) = try filled()
        let collection = try test.store.collections.make(title: "g", members: ids)
        // Killed between document and catalog.
        var newer = collection
        newer.title = "newer"
        newer.members = [ids[2]]
        try StoreDocument.write(CollectionDocument(newer), to: test.layout.collection(collection.id))
        #expect(try test.store.repair().updated == [collection.id])
        #expect(try test.store.collections.all() == [newer])
        try FileManager.default.removeItem(atPath: test.layout.collection(collection.id))
        #expect(try test.store.repair().updated == [collection.id])
        #expect(try test.store.collections.all().isEmpty)
        try await test.expectWhole()
    }

    @Test func damagedDocumentIsRewritten() async throws {
        let (test, ids) = try filled()
        let collection = try test.store.collections.make(title: "g", members: ids)
        try test.folder.write("{", to: "store/collections/g.json")
        #expect(try test.store.repair().restoredSidecars == [collection.id])
        #expect(try test.store.collections.all() == [collection])
        try await test.expectWhole()
    }

    // Replay as one

    private func answer(
        _ url: String, at digits: String? = nil, in test: TestStore, _ collection: ArchiveCollection
    ) throws -> (text: String, archive: String)? {
        let request = ArchiveStore.CaptureRequest(url: url, time: digits.flatMap { CaptureTimestamp(digits: $0) })
        let members = try test.store.collections.members(of: collection)
        return try test.store.resolver.openCapture(request, in: members, allowsFuzzyMatch: true).map { capture in
            let reader = try capture.body.open(decoded: true)
            return (String(decoding: try reader.read(upTo: 1000), as: UTF8.self), capture.archive.id.text)
        }
    }

    @Test func closestCaptureOfAnyMemberIsShown() throws {
        let test = try TestStore()
        func add(_ name: String, _ records: [Record]) throws -> ArchiveID {
            let path = try test.folder.write(RecordedArchive(records).bytes(), to: "\(name).wacz")
            return try test.store.importFile(at: path).archive.id
        }
        let one = try add(
            "one",
            [
                Record("http://a.example/", "early", timestamp: "20200101000000"),
                Record("http://a.example/one.js", "only here"),
            ])
        let two = try add(
            "two",
            [
                Record("http://a.example/", "late", timestamp: "20220101000000"),
                Record("http://a.example/two.js?_=1", "stands in"),
            ])
        let collection = try test.store.collections.make(title: "both", members: [one, two])
        #expect(
            try #require(try answer("http://a.example/", at: "20200601000000", in: test, collection)) == (
                "early", "one"
            ))
        #expect(
            try #require(try answer("http://a.example/", at: "20211201000000", in: test, collection)) == ("late", "two")
        )
        #expect(try #require(try answer("http://a.example/", in: test, collection)) == ("late", "two"))
        #expect(try #require(try answer("http://a.example/one.js", in: test, collection)) == ("only here", "one"))
        #expect(try #require(try answer("http://a.example/two.js?_=2", in: test, collection)) == ("stands in", "two"))
        #expect(try answer("http://a.example/none", in: test, collection) == nil)
    }

    @Test func revisitIsResolvedOnlyWithinCollection() throws {
        let test = try TestStore()
        // `printf payload | sha1sum`, in base32.
        let digest = "sha1:6B7FVAKWCPC2X3O4JNUCER5EYQWYVFO7"
        let payload = Record("http://a.example/", "payload", timestamp: "20240101000000").with {
            $0.index += ",\"digest\":\"\(digest)\""
            $0.fields = ["WARC-Payload-Digest: \(digest)"]
        }
        let revisit = Record("http://a.example/", "", timestamp: "20240301000000").with {
            $0.type = "revisit"
            $0.index = "\"mime\":\"warc/revisit\",\"digest\":\"\(digest)\""
            $0.fields = [
                "WARC-Refers-To-Target-URI: http://a.example/", "WARC-Refers-To-Date: 2024-01-01T00:00:00Z",
                "WARC-Payload-Digest: \(digest)",
                "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
            ]
        }
        let first = try test.folder.write(RecordedArchive([payload]).bytes(), to: "first.wacz")
        let second = try test.folder.write(RecordedArchive([revisit]).bytes(), to: "second.wacz")
        let one = try test.store.importFile(at: first).archive
        let two = try test.store.importFile(at: second).archive
        let alone = try test.store.collections.make(title: "alone", members: [two.id])
        #expect(code { _ = try answer("http://a.example/", in: test, alone) } == .payloadMissing)
        let both = try test.store.collections.make(title: "both", members: [two.id, one.id])
        #expect(try #require(try answer("http://a.example/", in: test, both)) == ("payload", "second"))
    }

    @Test func unavailableMembersAreSkipped() throws {
        let test = try TestStore()
        let path = try test.folder.write(
            RecordedArchive([Record("http://a.example/", "away", timestamp: "20240601000000")]).bytes(), to: "away.wacz"
        )
        let here = try test.folder.write(
            RecordedArchive([Record("http://a.example/", "here", timestamp: "20200101000000")]).bytes(), to: "here.wacz"
        )
        let members = [
            try test.store.importLink(to: path).archive.id, try test.store.importFile(at: here).archive.id,
        ]
        let collection = try test.store.collections.make(title: "g", members: members)
        #expect(try #require(try answer("http://a.example/", in: test, collection)) == ("away", "away"))
        try FileManager.default.removeItem(atPath: path)
        #expect(try #require(try answer("http://a.example/", in: test, collection)) == ("here", "here"))
        try test.store.collections.edit(collection.id, ArchiveMetadata()) { Array($0.prefix(1)) }
        let left = try #require(try test.store.collections.collection(id: collection.id))
        #expect(code { _ = try answer("http://a.example/", in: test, left) } == .unavailable)
    }

    @Test func replayNameChangesWithMembers() throws {
        let (test, ids) = try filled()
        let collection = try test.store.collections.make(title: "g", members: ids)
        func replayCollection() throws -> String {
            try #require(try test.store.resolver.replayable(id: collection.id)).replayCollection
        }
        let before = try replayCollection()
        #expect(before.wholeMatch(of: /g-[0-9a-f]{12}/) != nil)
        _ = try test.store.importFile(at: try test.file("b.wacz", seed: 50), options: ImportOptions(replaces: ids[0]))
        #expect(try replayCollection() != before)
    }
}
