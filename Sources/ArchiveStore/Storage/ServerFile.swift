import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What `server.json` tells about the running server of a store.
package struct ServerDescription: Codable, Sendable, Hashable {
    /// Where people open it, for example `http://localhost:8080`.
    package var address: String
    package var port: Int
    package var pid: Int32
    /// What a request that changes something must bring in `Replayhost-Token`.
    package var token: String

    package init(address: String, port: Int, pid: Int32, token: String) {
        self.address = address
        self.port = port
        self.pid = pid
        self.token = token
    }
}

/// The file `server.json`, held and locked while a server runs on the store; readable by this user alone.
package final class ServerFile: Sendable {
    private let file: Descriptor
    private static let attemptsMax = 5

    /// Takes the lock.
    ///
    /// - Throws: `StoreError` `locked`, naming the address of the server that has it.
    package init(layout: StoreLayout) throws {
        var attempt = 0
        while true {
            let file = try Self.open(at: layout.serverFile, flags: O_RDWR | O_CREAT)
            guard file.lock() != .heldByAnother else {
                attempt += 1
                // Somebody who only asks whether a server runs holds the lock for an instant.
                if attempt < Self.attemptsMax, usleep(20_000) == 0 { continue }
                let other = Self.running(layout: layout)
                throw StoreError(
                    .locked, "another server runs on this store" + (other.map { " at \($0.address)" } ?? ""),
                    place: layout.root, hint: "use that one, stop it, or give another store with --store")
            }
            // The other server may have deleted the file between our two calls: a lock on a deleted file locks nobody out.
            guard try file.status().st_nlink > 0 else { continue }
            // What a killed server had said is not true of this one.
            guard ftruncate(file.number, 0) == 0 else {
                throw StoreError.system(errno, doing: "writing", path: file.path)
            }
            self.file = file
            return
        }
    }

    /// Opens a `server.json` that somebody else can't have prepared: a file, no link, of the folder's owner.
    ///
    /// - Throws: `StoreError`: `notFound`, `unusable`.
    package static func open(at path: String, flags: Int32) throws(StoreError) -> Descriptor {
        // What is no file is not waited for.
        let file = try Descriptor(path: path, flags: flags | O_NOFOLLOW | O_NONBLOCK)
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink <= 1,
            status.st_uid == Folder.owner(of: (path as NSString).deletingLastPathComponent)
        else {
            throw StoreError(
                .unusable, "replayhost didn't write this file", place: path,
                hint: "check who created it, then delete it")
        }
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

    /// Deletes the file, then lets go of the lock.
    package func remove() {
        unlink(file.path)
    }

    /// The server that holds the store's lock now; `nil` when none runs or it has not said its address yet.
    package static func running(layout: StoreLayout) -> ServerDescription? {
        // Read first: a server that is just starting must not find its lock taken by those who wait for it.
        guard let file = try? open(at: layout.serverFile, flags: O_RDWR), let told = description(in: file),
            file.lock() == .heldByAnother
        else { return nil }
        return told
    }

    /// What the file says; `nil` when it does not say it yet.
    package static func description(in file: Descriptor) -> ServerDescription? {
        var bytes = Data(count: 4096)
        guard let count = try? bytes.withUnsafeMutableBytes({ try file.read(at: 0, into: $0) }) else { return nil }
        return try? JSONDecoder().decode(ServerDescription.self, from: bytes.prefix(count))
    }

    /// Whether a process has that very file open. A number in a file alone may be some other program's by now.
    package static func isOpen(_ file: Descriptor, in processID: Int32) throws -> Bool {
        guard processID > 1 else { return false }
        #if os(Linux)
        let own = try file.status()
        let folder = "/proc/\(processID)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names {
            var status = stat()
            guard stat("\(folder)/\(name)", &status) == 0 else { continue }
            if status.st_ino == own.st_ino, status.st_dev == own.st_dev { return true }
        }
        return false
        #else
        return kill(processID, 0) == 0
        #endif
    }
}
