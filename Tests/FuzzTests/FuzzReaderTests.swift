import Foundation
import FuzzReaders
import TestSupport
import Testing

/// Runs the readers over the fuzzers' seeds and known crashes, without libFuzzer.
struct FuzzReaderTests {
    /// The approximate number of damaged copies per file. Only `make fuzz` damages large files at every byte.
    private static let copiesMax = Cases.areAll ? 200 : 60

    private static func files(_ folder: String) throws -> [(name: String, bytes: [UInt8])] {
        let path = Checkout.path(folder)
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted().map { name in
            ("\(folder)/\(name)", [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))))
        }
    }

    private static func seeds(_ reader: FuzzReader) throws -> [(name: String, bytes: [UInt8])] {
        var seeds = try files("Fuzz/corpus/\(reader.rawValue)") + files("Fuzz/crashes/\(reader.rawValue)")
        if reader == .zip { seeds += try files("Fixtures/damaged").filter { $0.name.hasSuffix(".wacz") } }
        return seeds
    }

    @Test(arguments: FuzzReader.allCases)
    func seedsAndKnownCrashesAreHandled(_ reader: FuzzReader) throws {
        #expect(try Self.files("Fuzz/corpus/\(reader.rawValue)").count >= 3)
        for (name, bytes) in try Self.seeds(reader) {
            #expect(throws: Never.self, "\(name)") { try reader.read(bytes) }
        }
    }

    /// Runs each reader in a separate process to measure its memory.
    @Test(arguments: FuzzReader.allCases)
    func damagedSeedsAreHandledInLittleMemory(_ reader: FuzzReader) async {
        await #expect(processExitsWith: .success) { [name = reader.rawValue as String] in
            let reader = try #require(FuzzReader(rawValue: name))
            let seeds = try Self.seeds(reader)
            for (_, bytes) in seeds { try reader.read(bytes) }
            let before = try peakMemory()
            for (name, bytes) in seeds {
                let step = max(1, 2 * bytes.count / Self.copiesMax)
                DamagedCopies.forEach(of: bytes, step: step) { copy, place in
                    #expect(throws: Never.self, "\(name), damaged at byte \(place)") { try reader.read(copy) }
                }
            }
            let grown = try peakMemory() - before
            #expect(grown < Self.memoryMax || Self.isSanitized, "\(grown) bytes more than for whole files")
        }
    }

    private static let memoryMax = 32 << 20
    /// Whether AddressSanitizer is active, which delays freeing memory.
    private static let isSanitized = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] != nil

    /// Detects misspelled folders, which would never be read.
    @Test(arguments: ["Fuzz/corpus", "Fuzz/crashes"])
    func everyFolderBelongsToAReader(_ folder: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Checkout.path(folder))
        #expect(Set(names).subtracting(FuzzReader.allCases.map(\.rawValue) + ["README.md"]).isEmpty)
    }

    /// The tests above rely on this: a broken property throws, a refusal doesn't.
    @Test func refusalIsNotAFailure() throws {
        try FuzzReader.zip.read([])
        try FuzzReader.zip.read(Array("no ZIP".utf8))
        try FuzzReader.cdxParameters.read(Array("limit=x".utf8))
        try FuzzReader.backupManifest.read(Array("{}".utf8))
        try FuzzReader.range.read(Array("0\nbytes=-1".utf8))
    }
}
