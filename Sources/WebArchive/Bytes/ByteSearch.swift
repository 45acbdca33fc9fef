#if canImport(Glibc)
import CLinux
import Glibc
#else
import Darwin
#endif

extension ArraySlice<UInt8> {
    /// Where `bytes` first occur, found by `memmem`: the cost of a search byte by byte is what an attacker would choose it to be.
    ///
    /// - Returns: `nil` when they don't occur; an empty range at the start for no bytes.
    func firstRange(ofBytes bytes: [UInt8]) -> Range<Int>? {
        let offset = withUnsafeBytes { text -> Int? in
            bytes.withUnsafeBytes { wanted -> Int? in
                guard !wanted.isEmpty else { return 0 }
                guard let base = text.baseAddress, let first = wanted.baseAddress else { return nil }
                return memmem(base, text.count, first, wanted.count).map { UnsafeRawPointer($0) - base }
            }
        }
        return offset.map { startIndex + $0..<startIndex + $0 + bytes.count }
    }
}
