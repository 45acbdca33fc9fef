#if WITH_LIBZIP
import CLibzip

/// A ZIP opened by libzip. It reads from a `ByteSource`, so that it shares no file position.
final class LibzipArchive {
    let handle: OpaquePointer

    /// Opens `source`; `nil` if libzip refuses it, with the reason in `refusal`.
    init?(_ source: any ByteSource, refusal: inout String) {
        var error = zip_error_t()
        zip_error_init(&error)
        defer { zip_error_fini(&error) }
        let reader = Unmanaged.passRetained(LibzipReader(source))
        guard let zipSource = zip_source_function_create(LibzipReader.callback, reader.toOpaque(), &error) else {
            reader.release()
            refusal = Self.text(of: &error)
            return nil
        }
        guard let handle = zip_open_from_source(zipSource, ZIP_RDONLY, &error) else {
            refusal = Self.text(of: &error)
            zip_source_free(zipSource)
            return nil
        }
        self.handle = handle
    }

    deinit { zip_discard(handle) }

    static func text(of error: UnsafeMutablePointer<zip_error_t>) -> String {
        String(cString: zip_error_strerror(error)).lowercased()
    }

    /// Returns libzip's data about the entry at `index`, or `nil` if there is none.
    func status(at index: Int) -> zip_stat_t? {
        var status = zip_stat_t()
        zip_stat_init(&status)
        guard zip_stat_index(handle, UInt64(index), zip_flags_t(ZIP_FL_ENC_RAW), &status) == 0 else { return nil }
        return status
    }
}

/// A libzip source that reads from a `ByteSource`.
private final class LibzipReader {
    private let source: any ByteSource
    private var position: UInt64 = 0
    private var error = zip_error_t()

    init(_ source: any ByteSource) {
        self.source = source
        zip_error_init(&error)
    }

    deinit { zip_error_fini(&error) }

    static let callback: zip_source_callback = { state, data, length, command in
        guard let state else { return -1 }
        let reader = Unmanaged<LibzipReader>.fromOpaque(state)
        if command == ZIP_SOURCE_FREE {
            reader.release()
            return 0
        }
        return reader.takeUnretainedValue().answer(command, data, length)
    }

    private func answer(
        _ command: zip_source_cmd_t, _ data: UnsafeMutableRawPointer?, _ length: UInt64
    ) -> zip_int64_t {
        switch command {
        case ZIP_SOURCE_OPEN:
            position = 0
            return 0
        case ZIP_SOURCE_CLOSE: return 0
        case ZIP_SOURCE_READ: return read(into: data, length)
        case ZIP_SOURCE_SEEK:
            let offset = zip_source_seek_compute_offset(position, source.size, data, length, &error)
            guard let target = UInt64(exactly: offset) else { return -1 }
            position = target
            return 0
        case ZIP_SOURCE_TELL: return zip_int64_t(clamping: position)
        case ZIP_SOURCE_STAT:
            guard let status = data?.assumingMemoryBound(to: zip_stat_t.self) else { return -1 }
            zip_stat_init(status)
            status.pointee.valid = zip_uint64_t(ZIP_STAT_SIZE)
            status.pointee.size = source.size
            return zip_int64_t(MemoryLayout<zip_stat_t>.size)
        case ZIP_SOURCE_ERROR: return zip_error_to_data(&error, data, length)
        case ZIP_SOURCE_SUPPORTS: return Self.supported
        default:
            zip_error_set(&error, ZIP_ER_OPNOTSUPP, 0)
            return -1
        }
    }

    private static let supported: zip_int64_t = [
        ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
        ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS,
    ].reduce(0) { $0 | 1 << zip_int64_t($1.rawValue) }

    private func read(into data: UnsafeMutableRawPointer?, _ length: UInt64) -> zip_int64_t {
        guard let data, let count = Int(exactly: length) else { return 0 }
        do throws(WebArchiveError) {
            let found = try source.read(
                at: position, into: UnsafeMutableRawBufferPointer(start: data, count: count))
            position += UInt64(found)
            return zip_int64_t(found)
        } catch {
            zip_error_set(&self.error, ZIP_ER_READ, 0)
            return -1
        }
    }
}
#endif
