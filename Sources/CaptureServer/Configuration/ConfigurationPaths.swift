import ArchiveStore
import Foundation

/// The paths in a configuration file.
struct ConfigurationPaths {
    /// The folder to which relative paths belong.
    let folder: String
    /// What `~` stands for.
    let home: String

    /// The folder for saved files by default. The server creates it.
    var downloads: String { home + "/Downloads/VidSaver" }

    func absolute(_ path: String) -> String {
        if path == "~" { return home }
        if path.hasPrefix("~/") { return home + path.dropFirst() }
        return path.hasPrefix("/") ? path : "\(folder)/\(path)"
    }

    /// Returns why files can't be saved in a folder; `nil` if they can.
    func problem(ofFolder path: String) -> String? {
        if path == downloads, !Folder.exists(path) { return nil }
        guard Folder.exists(path) else { return "\(path) doesn't exist; create it first, or connect its drive" }
        guard Folder.isFolder(path) else { return "\(path) isn't a folder; write the path of a folder" }
        guard access(path, W_OK | X_OK) == 0 else {
            return "\(path) can't be written; change its permissions, or choose another folder"
        }
        return nil
    }

    /// Returns why a PEM file can't be used; `nil` if it can.
    ///
    /// - Parameter title: What it must contain: RFC 7468 §2, the label.
    func problem(ofPEM path: String, _ title: String) -> String? {
        guard Folder.exists(path) else { return "\(path) doesn't exist; write the path of a PEM file" }
        guard Folder.isFile(path) else { return "\(path) isn't a file; write the path of a PEM file" }
        do {
            let bytes = try Descriptor(named: path, flags: O_RDONLY | O_NONBLOCK).bytes(at: 0, upTo: 1 << 20)
            let text = String(decoding: bytes, as: UTF8.self)
            let isThere = text.split(whereSeparator: \.isNewline).contains {
                $0.hasPrefix("-----BEGIN ") && $0.contains("\(title)-----")
            }
            return isThere ? nil : "\(path) has no “BEGIN \(title)” line; write the path of a PEM file that has one"
        } catch {
            return "\(path) can't be read; change its owner or its permissions"
        }
    }
}
