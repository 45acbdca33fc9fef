import Foundation

/// The content of `server.json`, or `capture.json`: a running server of a store.
package struct ServerDescription: Codable, Sendable, Hashable {
    /// The URL of the app, for example `http://localhost:8080`.
    package var address: String
    package var port: Int
    package var pid: Int32
    /// The value of `Replayhost-Token` that requests need to change anything.
    package var token: String

    package init(address: String, port: Int, pid: Int32, token: String) {
        self.address = address
        self.port = port
        self.pid = pid
        self.token = token
    }
}

/// `server.json`, which is locked while a server uses the store, or `capture.json` of the capture server. Only this user
/// can read it.
package final class ServerFile: Sendable {
    private let file: Descriptor
    private static let attemptsMax = 5

    /// Acquires the lock of `server.json`.
    ///
    /// - Throws: `StoreError` `locked`, with the URL of the other server.
    package convenience init(layout: StoreLayout) throws {
        try self.init(at: layout.serverFile, of: "server", in: layout)
    }

    /// Acquires the lock of `capture.json`.
    ///
    /// - Throws: `StoreError` `locked`, with the URL of the other server.
    package convenience init(ofCaptureServerIn layout: StoreLayout) throws {
        try self.init(at: layout.captureServerFile, of: "capture server", in: layout)
    }

    private init(at path: String, of kind: String, in layout: StoreLayout) throws {
        var attempt = 0
        while true {
            let file = try Self.open(at: path, flags: O_RDWR | O_CREAT)
            guard file.lock() != .heldByAnother else {
                attempt += 1
                // A process that checks whether a server is running holds the lock for a moment.
                if attempt < Self.attemptsMax, usleep(20_000) == 0 { continue }
                let other = Self.running(at: path)
                throw StoreError(
                    .locked, "another \(kind) is using this store" + (other.map { " at \($0.address)" } ?? ""),
                    place: layout.root, hint: "use that one, stop it, or choose another store with --store")
            }
            // The other server may have deleted the file meanwhile. A lock on a deleted file is useless.
            guard try file.status().st_nlink > 0 else { continue }
            // Remove the description of a killed server.
            guard ftruncate(file.number, 0) == 0 else {
                throw StoreError.system(errno, doing: "writing", path: file.path)
            }
            self.file = file
            return
        }
    }

    /// Opens `server.json`, if it is a regular file without further links that belongs to the folder's owner.
    ///
    /// - Throws: `StoreError`: `notFound`, `unusable`.
    package static func open(at path: String, flags: Int32) throws(StoreError) -> Descriptor {
        let foreign = StoreError(
            .unusable, "replayhost didn't write this file", place: path, hint: "check who created it, then delete it")
        let file: Descriptor
        do {
            file = try Descriptor(path: path, flags: flags)
        } catch {
            throw error.code == .notAFile ? foreign : error
        }
        let status = try file.status()
        guard status.st_nlink <= 1,
            status.st_uid == Folder.owner(of: (path as NSString).deletingLastPathComponent)
        else { throw foreign }
        return file
    }

    package func write(_ description: ServerDescription) throws {
        let bytes = try JSONEncoder().encode(description)
        guard fchmod(file.number, 0o600) == 0, ftruncate(file.number, 0) == 0, lseek(file.number, 0, SEEK_SET) == 0
        else {
            throw StoreError.system(errno, doing: "writing", path: file.path)
        }
        try bytes.withUnsafeBytes { try file.append($0) }
    }

    /// The locked descriptor: a process that inherits it holds the lock as well.
    package var descriptor: Int32 { file.number }

    /// Deletes the file.
    package func remove() {
        unlink(file.path)
    }

    /// Returns the running server of a store; `nil` if there is none, or it is still starting.
    package static func running(layout: StoreLayout) -> ServerDescription? { running(at: layout.serverFile) }

    /// Returns the running server that keeps the file at `path` locked; `nil` if there is none, or it is still starting.
    package static func running(at path: String) -> ServerDescription? {
        // Read before locking, so that processes that wait for a starting server don't take its lock.
        guard let file = try? open(at: path, flags: O_RDWR), let server = description(in: file),
            file.lock() == .heldByAnother
        else { return nil }
        return server
    }

    /// Returns the description in the file; `nil` if it isn't written yet.
    package static func description(in file: Descriptor) -> ServerDescription? {
        var bytes = Data(count: 4096)
        guard let count = try? bytes.withUnsafeMutableBytes({ try file.read(at: 0, into: $0) }) else { return nil }
        return try? JSONDecoder().decode(ServerDescription.self, from: bytes.prefix(count))
    }

    /// Whether a process has the file open. The process ID alone may belong to another program by now.
    package static func isOpen(_ file: Descriptor, in processID: Int32) throws -> Bool {
        guard processID > 1 else { return false }
        #if os(Linux)
        let own = try file.status()
        let folder = "/proc/\(processID)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names {
            guard let status = Folder.status(of: "\(folder)/\(name)") else { continue }
            if status.st_ino == own.st_ino, status.st_dev == own.st_dev { return true }
        }
        return false
        #else
        return kill(processID, 0) == 0
        #endif
    }
}
