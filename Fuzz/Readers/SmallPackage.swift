import CZlib

/// A ZIP in memory that contains the input of a reader.
struct SmallPackage {
    private var bytes: [UInt8] = []
    private var directory: [UInt8] = []
    private var count: UInt16 = 0

    /// Returns a WACZ with one WARC record and the given files.
    static func wacz(_ files: [(name: String, content: [UInt8])], deflates: Bool = false) -> [UInt8] {
        var package = SmallPackage()
        package.add("archive/data.warc", record)
        for (name, content) in files { package.add(name, content, deflates: deflates) }
        return package.finished()
    }

    /// The WARC file of each archive.
    static let record = Array(
        ("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/\r\n"
            + "WARC-Date: 2024-01-02T03:04:05Z\r\nContent-Type: application/http;msgtype=response\r\n"
            + "Content-Length: 25\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhello!\r\n\r\n").utf8)

    /// Adds an entry. APPNOTE.TXT 6.3.10, §4.3.7.
    mutating func add(_ name: String, _ content: [UInt8], deflates: Bool = false) {
        let stored = deflates ? Self.deflated(content, windowBits: -MAX_WBITS) : content
        let checksum = UInt32(truncatingIfNeeded: crc32(0, content, UInt32(content.count)))
        let common =
            field(UInt16(20)) + field(UInt16(0)) + field(UInt16(deflates ? 8 : 0)) + field(UInt32(0x0021_0000))
            + field(checksum) + field(UInt32(stored.count)) + field(UInt32(content.count))
            + field(UInt16(name.utf8.count)) + field(UInt16(0))
        directory += field(UInt32(0x0201_4B50)) + field(UInt16(20)) + common
        directory += [UInt8](repeating: 0, count: 10) + field(UInt32(bytes.count)) + Array(name.utf8)
        bytes += field(UInt32(0x0403_4B50)) + common + Array(name.utf8) + stored
        count += 1
    }

    /// Returns the entries with the directory and its end record.
    func finished() -> [UInt8] {
        bytes + directory + field(UInt32(0x0605_4B50)) + field(UInt32(0)) + field(count) + field(count)
            + field(UInt32(directory.count)) + field(UInt32(bytes.count)) + field(UInt16(0))
    }

    /// Returns one gzip member.
    static func gzipped(_ bytes: [UInt8]) -> [UInt8] { deflated(bytes, windowBits: MAX_WBITS + 16) }

    private static func deflated(_ bytes: [UInt8], windowBits: Int32) -> [UInt8] {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        deflateInit2_(&stream, 1, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        defer { deflateEnd(&stream) }
        var (input, output) = (bytes, [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))) + 64))
        let produced = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                (stream.next_in, stream.avail_in) = (source.baseAddress, UInt32(source.count))
                (stream.next_out, stream.avail_out) = (target.baseAddress, UInt32(target.count))
                _ = deflate(&stream, Z_FINISH)
                return target.count - Int(stream.avail_out)
            }
        }
        return Array(output.prefix(produced))
    }

    private func field(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
}
