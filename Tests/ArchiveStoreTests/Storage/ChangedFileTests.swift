import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Other programs change a file while it's imported, verified, replayed, backed up or restored, at 20 seeded moments.
///
/// What is stored then is whole, and no result of what a file was is shown for what it became.
struct ChangedFileTests {
    struct Moment: Sendable, CustomTestStringConvertible {
        let seed: UInt64
        /// The call of the progress, or the part of the body, at which the file changes.
        let call: Int
        let how: FileChange
        /// The place of the change in the file, from 0 to 1.
        let part: Double

        init(seed: UInt64) {
            var generator = SeededGenerator(seed: seed)
            self.seed = seed
            call = Int.random(in: 0..<5, using: &generator)
            how = FileChange.allCases.randomElement(using: &generator) ?? .inPlace
            part = Double.random(in: 0..<1, using: &generator)
        }

        var testDescription: String { "\(how.rawValue) at call \(call), \(Int(part * 100)) % (seed \(seed))" }
    }

    /// Changes a file at its moment.
    private final class Changer {
        private let moment: Moment
        private let path: String
        private var calls = 0

        init(_ moment: Moment, _ path: String) { (self.moment, self.path) = (moment, path) }

        func step() throws {
            defer { calls += 1 }
            guard calls == moment.call else { return }
            let size = try #require(Folder.status(of: path)).st_size
            try change(path, moment.how, at: Int(moment.part * Double(size)))
        }

        /// Changes the file if it wasn't during the operation.
        func end() throws { while calls <= moment.call { try step() } }
    }

    private static func moments(_ seeds: ClosedRange<UInt64>) -> [Moment] { seeds.map { Moment(seed: $0) } }

    /// More than is copied at once.
    private static let bytes = GeneratedArchive(pages: numberedPages(3), payloadSize: 17 << 20).bytes()

    private func imported(_ test: TestStore) throws -> Archive {
        try test.store.importFile(at: test.folder.write(Self.bytes, to: "a.wacz")).archive
    }

    @Test(arguments: moments(1...4)) func importedFileIsWhole(moment: Moment) async throws {
        let test = try TestStore()
        let path = try test.folder.write(Self.bytes, to: "a.wacz")
        let changer = Changer(moment, path)
        do {
            _ = try test.store.importFile(at: path) { _ in try changer.step() }
        } catch is StoreError {
            // What isn't an archive any more is refused.
            #expect([.cut, .grown].contains(moment.how))
        }
        try changer.end()
        try await test.expectWhole()
    }

    @Test(arguments: moments(5...8)) func verificationIsOfTheFileAsItIs(moment: Moment) throws {
        let test = try TestStore()
        let archive = try imported(test)
        let changer = Changer(moment, test.layout.file(archive.key))
        let report = try? test.store.verifications.verify(archive, trust: nil) { _ in try changer.step() }
        #expect(report == nil)
        try changer.end()
        #expect(try test.store.archives().map { $0.archive.verificationCode($0.availability) } == [.notVerified])
    }

    /// The file is open, and a part of the body was sent. Linked files are replayed only as they were.
    @Test(arguments: moments(9...12), [false, true])
    func replayShowsNoResultOfWhatTheFileWas(moment: Moment, isLinked: Bool) throws {
        let test = try TestStore()
        let source = try test.folder.write(Self.bytes, to: "a.wacz")
        let archive = try isLinked ? test.store.importLink(to: source).archive : imported(test)
        _ = try test.store.verifications.verify(archive, trust: nil) { _ in }
        let known = try #require(try test.store.archive(id: archive.id))
        let resolver = test.store.resolver
        let request = ArchiveStore.CaptureRequest(url: "http://example.org/large", time: nil)
        func open() throws -> OpenCapture? {
            try resolver.openCapture(request, in: [known], allowsFuzzyMatch: false)
        }
        let capture = try #require(try open())
        #expect(resolver.trust(in: capture).verification == known.verified?.code)
        let changer = Changer(moment, isLinked ? source : test.layout.file(archive.key))
        let body = try capture.body.open(decoded: true)
        // A file that is cut ends the body with an error.
        while let bytes = try? body.read(upTo: 4 << 20), !bytes.isEmpty { try changer.step() }
        try changer.end()
        #expect(resolver.trust(in: capture).verification != known.verified?.code)
        let again = try? open().map { resolver.trust(in: $0).verification }
        #expect(again == nil || again == .notVerified)
    }

    @Test(arguments: moments(13...16)) func backupIsWhole(moment: Moment) async throws {
        let made = try BackedUpStore()
        let archive = try imported(made.test)
        let changer = Changer(moment, made.test.layout.file(archive.key))
        let report = try made.store.backUp(to: made.folder) { _ in try changer.step() }
        try await made.expectSound()
        #expect(try made.ids() == (report.problems.isEmpty ? [archive.id.text] : []))
        #expect(names(in: made.folder + "/files").count == report.archives)
        try changer.end()
    }

    @Test(arguments: moments(17...20)) func restoredStoreIsWhole(moment: Moment) async throws {
        let made = try BackedUpStore()
        let archive = try imported(made.test)
        _ = try made.store.backUp(to: made.folder)
        let changer = Changer(moment, made.copy(archive))
        let root = made.test.folder.path("restored")
        let report = try ArchiveStore.restore(from: made.folder, to: root) { _ in try changer.step() }
        try changer.end()
        let store = try ArchiveStore(at: root)
        #expect(try store.catalog.allArchives().map(\.id) == (report.problems.isEmpty ? [archive.id] : []))
        #expect(report.leftOut == (report.problems.isEmpty ? [] : [archive.id]))
        for name in names(in: store.layout.files) where name.hasSuffix(".wacz") {
            #expect(try await sha256ByOpenSSL("\(store.layout.files)/\(name)") + ".wacz" == name)
        }
        #expect(names(in: store.layout.incoming) == [])
    }
}
