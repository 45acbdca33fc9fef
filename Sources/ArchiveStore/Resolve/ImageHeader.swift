/// The format and the size of an image, from its first bytes.
///
/// Sources: PNG (W3C) §5.2 and §11.2.1; JPEG (ITU-T T.81) §B.1.1 and §B.2.2; WebP (RFC 9649) §2.4 to §2.7.
package struct ImageHeader: Sendable, Hashable {
    /// The media type.
    package let type: String
    /// In pixels.
    package let width: Int
    package let height: Int

    /// Reads the header; `nil` for other formats, and if the size isn't in `bytes`.
    package init?(_ bytes: [UInt8]) {
        let found: (type: String, size: (width: Int, height: Int)?)
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            found = ("image/png", Self.sizeOfPNG(bytes))
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            found = ("image/jpeg", Self.sizeOfJPEG(bytes))
        } else if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) {
            found = ("image/webp", Self.sizeOfWebP(bytes))
        } else {
            return nil
        }
        guard let size = found.size, size.width > 0, size.height > 0 else { return nil }
        (type, width, height) = (found.type, size.width, size.height)
    }

    /// The number of pixels, of which each takes memory when the image is shown.
    package var pixels: Int {
        let (product, isTooLarge) = width.multipliedReportingOverflow(by: height)
        return isTooLarge ? .max : product
    }

    private static func sizeOfPNG(_ bytes: [UInt8]) -> (Int, Int)? {
        guard bytes.dropFirst(8).starts(with: [0, 0, 0, 13] + Array("IHDR".utf8)),
            let width = number(bytes, at: 16, 4), let height = number(bytes, at: 20, 4)
        else { return nil }
        return (width, height)
    }

    /// Skips the segments before the first frame header.
    private static func sizeOfJPEG(_ bytes: [UInt8]) -> (Int, Int)? {
        var position = 2
        while let marker = number(bytes, at: position, 2), marker >> 8 == 0xFF {
            switch marker & 0xFF {
            case 0xFF: position += 1
            case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker & 0xFF):
                guard let height = number(bytes, at: position + 5, 2), let width = number(bytes, at: position + 7, 2)
                else { return nil }
                return (width, height)
            case 0x01, 0xD0...0xD7: position += 2
            default:
                guard let length = number(bytes, at: position + 2, 2), length >= 2 else { return nil }
                position += 2 + length
            }
        }
        return nil
    }

    private static func sizeOfWebP(_ bytes: [UInt8]) -> (Int, Int)? {
        func little(_ position: Int, _ count: Int) -> Int? {
            number(bytes, at: position, count).map { number in
                (0..<count).reduce(0) { $0 << 8 | (number >> ($1 * 8)) & 0xFF }
            }
        }
        switch bytes.dropFirst(12).prefix(4) {
        case Array("VP8X".utf8)[...]:
            guard let width = little(24, 3), let height = little(27, 3) else { return nil }
            return (width + 1, height + 1)
        case Array("VP8L".utf8)[...]:
            guard number(bytes, at: 20, 1) == 0x2F, let bits = little(21, 4) else { return nil }
            return ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case Array("VP8 ".utf8)[...]:
            guard number(bytes, at: 23, 3) == 0x9D012A, let width = little(26, 2), let height = little(28, 2) else {
                return nil
            }
            return (width & 0x3FFF, height & 0x3FFF)
        default: return nil
        }
    }

    /// Returns a big-endian number of `count` bytes; `nil` if they aren't all there.
    private static func number(_ bytes: [UInt8], at position: Int, _ count: Int) -> Int? {
        guard position + count <= bytes.count else { return nil }
        return bytes[position..<(position + count)].reduce(0) { $0 << 8 | Int($1) }
    }
}
