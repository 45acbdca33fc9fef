import Foundation

/// Finds archives in a folder.
package enum FolderSearch {
    /// Returns the WACZ, WARC and ARC files by their names, sorted. Links to folders aren't followed.
    package static func archives(in folder: String, unreadable: inout [String]) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            unreadable.append(folder)
            return []
        }
        var found: [String] = []
        for name in names.sorted() where !name.hasPrefix(".") {
            let path = (folder as NSString).appendingPathComponent(name)
            let type = (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
            if type == .typeDirectory {
                found += archives(in: path, unreadable: &unreadable)
            } else if isArchive(name) {
                found.append(path)
            }
        }
        return found
    }

    /// Whether this is the name of a WACZ, WARC or ARC file.
    package static func isArchive(_ name: String) -> Bool {
        isWACZ(name) || captureEndings.contains { name.lowercased().hasSuffix($0) }
    }

    package static func isWACZ(_ name: String) -> Bool {
        name.lowercased().hasSuffix(".wacz") || name.lowercased().hasSuffix(".wacz.zip")
    }

    private static let captureEndings = [".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz"]
}
