import Foundation
import FuzzReaders

// Runs libFuzzer with the reader in FUZZ_READER: `FUZZ_READER=zip Fuzzer [OPTION…] [FOLDER…|FILE…]`.
// With FUZZ_DAMAGE=1, it reads each FILE instead, cut after each byte and with each byte changed.

enum Chosen {
    static let reader: FuzzReader = {
        let name = ProcessInfo.processInfo.environment["FUZZ_READER"] ?? ""
        guard let reader = FuzzReader(rawValue: name) else {
            let names = FuzzReader.allCases.map(\.rawValue).joined(separator: " ")
            FileHandle.standardError.write(Data("FUZZ_READER is \"\(name)\"; use one of: \(names)\n".utf8))
            exit(2)
        }
        return reader
    }()

    /// Crashes if a property is broken, so that libFuzzer reports it.
    static func read(_ bytes: [UInt8], _ origin: String = "") {
        do {
            try reader.read(bytes)
        } catch {
            fatalError("\(reader.rawValue): \(error) \(origin)")
        }
    }
}

/// The entry point of libFuzzer, from `FuzzerInterface.h` in compiler-rt.
@_silgen_name("LLVMFuzzerRunDriver")
func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

_ = Chosen.reader
if ProcessInfo.processInfo.environment["FUZZ_DAMAGE"] == "1" {
    var count = 0
    for path in CommandLine.arguments.dropFirst() {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        DamagedCopies.forEach(of: bytes) { copy, place in
            Chosen.read(copy, "\(path), damaged at byte \(place)")
            count += 1
        }
    }
    print(count)
} else {
    var (count, arguments) = (CommandLine.argc, CommandLine.unsafeArgv)
    exit(
        runFuzzer(&count, &arguments) { bytes, length in
            Chosen.read(Array(UnsafeBufferPointer(start: bytes, count: length)))
            return 0
        })
}
