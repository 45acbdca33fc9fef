#if canImport(Glibc)
import Glibc
#endif

/// Converts text to UTF-8, piece by piece. Bytes that can't be converted become U+FFFD.
package final class TextConverter {
    private let encoding: TextEncoding
    private var rest: [UInt8] = []
    private var isReplaced = false
    #if canImport(Glibc)
    private var descriptor: iconv_t?
    #endif

    package init(_ encoding: TextEncoding) {
        self.encoding = encoding
        #if canImport(Glibc)
        guard encoding != .utf8, !encoding.iconvName.isEmpty else { return }
        if let opened = iconv_open("UTF-8", encoding.iconvName), Int(bitPattern: opened) != -1 { descriptor = opened }
        #endif
    }

    deinit {
        #if canImport(Glibc)
        if let descriptor { iconv_close(descriptor) }
        #endif
    }

    /// Returns the next piece as UTF-8. An incomplete character at its end belongs to the next piece.
    package func convert(_ bytes: [UInt8]) -> [UInt8] {
        switch encoding {
        case .replacement: return replace(bytes)
        case .userDefined: return bytes.flatMap { Self.userDefined($0) }
        default: break
        }
        let input = rest + bytes
        rest = []
        #if canImport(Glibc)
        if let descriptor { return convert(input, descriptor) }
        #endif
        let end = Self.completeUTF8(input)
        rest = Array(input[end...])
        return Array(String(decoding: input[..<end], as: UTF8.self).utf8)
    }

    /// Returns what is left at the end.
    package func finish() -> [UInt8] { rest.isEmpty ? [] : Array("\u{FFFD}".utf8) }

    #if canImport(Glibc)
    private func convert(_ input: [UInt8], _ descriptor: iconv_t) -> [UInt8] {
        var (input, output) = (input, [UInt8]())
        let capacity = input.count * 4 + 16
        let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: capacity)
        defer { buffer.deallocate() }
        let count = input.count
        let consumed = input.withUnsafeMutableBytes { bytes -> Int in
            var source = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var left = count
            while left > 0 {
                var (target, room): (UnsafeMutablePointer<CChar>?, Int) = (buffer, capacity)
                let result = iconv(descriptor, &source, &left, &target, &room)
                let failure = errno
                output.append(contentsOf: UnsafeRawBufferPointer(start: buffer, count: capacity - room))
                guard result == -1 else { break }
                guard failure == EILSEQ || (failure == EINVAL && left > Self.characterBytesMax) else { break }
                output += "\u{FFFD}".utf8
                source = source?.advanced(by: 1)
                left -= 1
            }
            return count - left
        }
        rest = Array(input[consumed...])
        return output
    }

    private static let characterBytesMax = 8
    #endif

    /// WHATWG Encoding §14.1.
    private func replace(_ bytes: [UInt8]) -> [UInt8] {
        guard !bytes.isEmpty, !isReplaced else { return [] }
        isReplaced = true
        return Array("\u{FFFD}".utf8)
    }

    /// WHATWG Encoding §14.5: U+F780 to U+F7FF, in UTF-8.
    private static func userDefined(_ byte: UInt8) -> [UInt8] {
        byte < 0x80 ? [byte] : [0xEF, byte < 0xC0 ? 0x9E : 0x9F, byte & 0xBF]
    }

    /// Returns the end of the last complete sequence.
    private static func completeUTF8(_ bytes: [UInt8]) -> Int {
        for back in 1...3 where bytes.count >= back {
            let byte = bytes[bytes.count - back]
            if byte & 0xC0 == 0x80 { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > back ? bytes.count - back : bytes.count
        }
        return bytes.count
    }
}
