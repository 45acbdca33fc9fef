import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// `relation.requires`: WACZ 1.2.0 draft. Files are known by their SHA-256, written with or without the name of the
/// function.
struct RequirementsTests {
    private func bytes(seed: UInt64, requires: [(filename: String, hash: String?)] = []) -> [UInt8] {
        var archive = GeneratedArchive(seed: seed)
        archive.requirements = requires
        return archive.bytes()
    }

    @Test(arguments: ["", "sha256:", "sha-256:"])
    func requiredArchivesAreFoundByHash(label: String) async throws {
        let test = try TestStore()
        let (one, two) = (
            try test.folder.write(bytes(seed: 1), to: "one.wacz"), try test.folder.write(bytes(seed: 2), to: "two.wacz")
        )
        let hashes = (try await sha256ByOpenSSL(one), try await sha256ByOpenSSL(two))
        let needs = bytes(
            seed: 3, requires: [("two.wacz", label + hashes.1), ("one.wacz", label + hashes.0.uppercased())])
        let outcome = try test.store.importFile(at: try test.folder.write(needs, to: "needs.wacz"))
        let archive = outcome.archive
        #expect(
            try test.store.resolver.requiredArchives(of: test.store.openArchives.lookups(archive, Allowances())).isEmpty
        )
        let missing = outcome.findings.filter { $0.code == "required-archive-missing" }
        #expect(missing.map(\.severity) == [.warning, .warning])
        #expect(missing.first?.what.contains("two.wacz") == true)
        #expect(missing.first?.what.contains(hashes.1) == true)
        #expect(outcome.archive.findingCounts == FindingCounts(outcome.findings))

        // Under whatever name it comes.
        let stream = try Descriptor(path: two, flags: O_RDONLY)
        let imported = try test.store.jobs.importStream(stream.number, name: "x", source: "standard input")
        let second = try #require(imported.outcome).archive
        withExtendedLifetime(stream) {}
        #expect(
            try test.store.resolver.requiredArchives(of: test.store.openArchives.lookups(archive, Allowances())) == [
                second
            ])
        #expect(try test.store.details(of: archive).findings.filter { $0.code == missing[0].code }.count == 1)
        let first = try test.store.importFile(at: one).archive
        #expect(
            try test.store.resolver.requiredArchives(of: test.store.openArchives.lookups(archive, Allowances())) == [
                second, first,
            ])
        let details = try test.store.details(of: archive)
        #expect(!details.findings.contains { $0.code == missing[0].code })
        #expect(details.archive.findingCounts == FindingCounts(details.findings))
        try test.store.remove(second.id)
        #expect(
            try test.store.resolver.requiredArchives(of: test.store.openArchives.lookups(archive, Allowances())) == [
                first
            ])
        #expect(try test.store.details(of: archive).findings.contains { $0.code == missing[0].code })
    }

    @Test func requirementWithoutHashMatchesNothing() async throws {
        let test = try TestStore()
        let one = try test.folder.write(bytes(seed: 1), to: "one.wacz")
        _ = try test.store.importFile(at: one)
        let hash = try await sha256ByOpenSSL(one)
        let needs = bytes(
            seed: 2,
            requires: [
                ("one.wacz", nil), ("one.wacz", "sha1:\(hash.prefix(40))"), ("one.wacz", "x"),
                ("one.wacz", String(hash.dropLast())),
            ])
        let outcome = try test.store.importFile(at: try test.folder.write(needs, to: "needs.wacz"))
        #expect(
            try test.store.resolver.requiredArchives(of: test.store.openArchives.lookups(outcome.archive, Allowances()))
                .isEmpty)
        let codes = outcome.findings.map(\.code).filter { $0.hasPrefix("required-") }
        // Three of the four say the same: no hash.
        #expect(codes == ["required-archive-unknown", "required-archive-unknown"])
    }

    @Test func missingRequirementsAreCounted() throws {
        let test = try TestStore()
        let needs = bytes(
            seed: 1,
            requires: (0..<30).map {
                ("\($0).wacz", String(repeating: "0", count: 62) + String($0 + 10))
            })
        let outcome = try test.store.importFile(at: try test.folder.write(needs, to: "needs.wacz"))
        let findings = outcome.findings.filter { $0.code == "required-archive-missing" }
        #expect(findings.count == 21)
        #expect(findings.last?.what == "10 more issues of this kind, 30 in total.")
    }

    /// The file itself is fine.
    @Test func strictImportIgnoresMissingRequirements() throws {
        let test = try TestStore()
        var archive = GeneratedArchive(pages: numberedPages(1))
        archive.listsResources = true
        archive.requirements = [("b.wacz", String(repeating: "0", count: 64))]
        let path = try test.folder.write(archive.bytes(), to: "a.wacz")
        let outcome = try test.store.importFile(at: path, options: ImportOptions(isStrict: true))
        #expect(outcome.findings.map(\.code) == ["package-hash-missing", "required-archive-missing"])
    }

    @Test func archiveWithLostFileHasDetails() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: Checkout.fixture("second.wacz")).archive
        try FileManager.default.removeItem(atPath: test.layout.file(archive.key))
        let details = try test.reopened().details(of: archive)
        #expect(details.archive.title == archive.title)
        #expect(details.availability == .missing)
        #expect(details.findings.map(\.code) == ["file-missing"])
    }
}
