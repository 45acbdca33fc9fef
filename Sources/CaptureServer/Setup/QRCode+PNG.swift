package import ArchiveStore
import CZlib

extension QRCode {
    /// The code as a PNG image with two colours. ISO/IEC 15948.
    ///
    /// - Parameter scale: The pixels on a side of each module.
    package func png(scale: Int = 8) throws(StoreError) -> [UInt8] {
        let size = width * scale
        var rows: [UInt8] = []
        for y in 0..<size {
            // No filter; then one bit for each pixel, 1 is white.
            rows.append(0)
            for byte in 0..<(size + 7) / 8 {
                rows.append(
                    (0..<8).reduce(0) { bits, bit in
                        bits << 1 | (isDark(x: (byte * 8 + bit) / scale, y: y / scale) ? 0 : 1)
                    })
            }
        }
        // Depth 1, greyscale, and the only methods that exist.
        let header = Self.bigEndian(size) + Self.bigEndian(size) + [1, 0, 0, 0, 0]
        return [0x89] + Array("PNG\r\n\u{1A}\n".utf8) + Self.chunk("IHDR", header)
            + Self.chunk("IDAT", try Self.compressed(rows)) + Self.chunk("IEND", [])
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let checked = Array(type.utf8) + data
        return bigEndian(data.count) + checked + bigEndian(Int(CZlib.crc32(0, checked, UInt32(checked.count))))
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func compressed(_ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
        var size = compressBound(uLong(bytes.count))
        var result = [UInt8](repeating: 0, count: Int(size))
        guard compress(&result, &size, bytes, uLong(bytes.count)) == Z_OK else {
            throw StoreError(.failed, "the QR code can't be compressed")
        }
        return Array(result.prefix(Int(size)))
    }
}
