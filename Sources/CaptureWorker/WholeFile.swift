import ArchiveStore
import Foundation

/// Small files that are only ever replaced as a whole.
package enum WholeFile {
    /// Writes a new file, flushes it, and puts it into place.
    package static func replace(_ path: String, by bytes: [UInt8]) throws {
        let temporary = path + ".new"
        try Folder.create(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
        try Folder.delete(temporary)
        do {
            let file = try Descriptor(path: temporary, flags: O_WRONLY | O_CREAT | O_EXCL)
            try bytes.withUnsafeBytes { try file.append($0) }
            try file.synchronize()
            try Folder.move(temporary, to: path)
        } catch {
            try Folder.delete(temporary)
            throw error
        }
    }
}
