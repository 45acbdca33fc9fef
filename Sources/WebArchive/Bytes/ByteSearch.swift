#if canImport(Glibc)
import CLinux
import Glibc
#else
import Darwin
#endif

extension UnsafeRawBufferPointer {
    /// The position of the first line feed.
    var lineEnd: Int? {
        guard let base = baseAddress, let found = memchr(base, 0x0A, count) else { return nil }
        return UnsafeRawPointer(found) - base
    }
}

extension ArraySlice<UInt8> {
    /// Returns the range of the first occurrence of `bytes`.
    ///
    /// Uses `memmem`, whose cost is linear: a naive search takes quadratic time on input made by an attacker.
    ///
    /// - Returns: `nil` if `bytes` don't occur; an empty range at the start if `bytes` is empty.
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
