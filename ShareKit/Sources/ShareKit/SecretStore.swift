public import Foundation

/// Where this device keeps the keys of its servers.
public protocol SecretStore: Sendable {
    /// Returns the key for a server; `nil` if there is none.
    func key(for id: ServerProfile.ID) throws(ShareError) -> String?

    /// Keeps a key, or deletes it.
    func set(_ key: String?, for id: ServerProfile.ID) throws(ShareError)
}

/// Keys in a file that only its owner can read.
public struct FileSecretStore: SecretStore {
    private let folder: ShareFolder
    private static let name = "keys.json"

    /// Uses a file of a folder.
    public init(folder: ShareFolder) { self.folder = folder }

    /// Returns the key for a server; `nil` if there is none.
    public func key(for id: ServerProfile.ID) throws(ShareError) -> String? { try keys()[id.uuidString] }

    /// Keeps a key, or deletes it.
    public func set(_ key: String?, for id: ServerProfile.ID) throws(ShareError) {
        try folder.withLock { () throws(ShareError) in
            var keys = try keys()
            guard keys[id.uuidString] != key else { return }
            keys[id.uuidString] = key
            try folder.write(ShareFolder.data(of: keys), to: Self.name)
        }
    }

    private func keys() throws(ShareError) -> [String: String] {
        guard let data = try folder.read(Self.name) else { return [:] }
        guard let keys = try? JSONDecoder().decode([String: String].self, from: data) else {
            throw ShareError(.storage, "\(folder.place(of: Self.name)) is damaged; delete it, and connect again")
        }
        return keys
    }
}
