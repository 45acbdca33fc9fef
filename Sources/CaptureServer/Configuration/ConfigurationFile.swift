package import ArchiveStore
import CaptureWorker
import Foundation

/// `config.yaml` of a store. It's only ever replaced as a whole, by a valid text.
package struct ConfigurationFile: Sendable {
    package let path: String
    private let reader: ConfigurationReader

    /// A text that wasn't written, since it has faults.
    package struct Invalid: Error {
        package let faults: [ConfigurationFault]
    }

    /// - Parameter home: What `~` stands for.
    package init(layout: StoreLayout, home: String) {
        self.init(path: layout.capture + "/config.yaml", home: home)
    }

    package init(path: String, home: String, addresses: Set<String>? = nil) {
        // The target of a link is replaced, not the link.
        self.path = Folder.resolved(path)
        let folder = String(self.path[..<(self.path.lastIndex(of: "/") ?? self.path.startIndex)])
        reader = ConfigurationReader(folder: folder, home: home, addresses: addresses)
    }

    /// The version that the last write replaced.
    package var previousPath: String { path + ".previous" }

    /// Reads and checks the file. Without a file, the defaults hold. A file that can't be read is a fault.
    package func read() -> ConfigurationReading {
        do {
            return check(try text() ?? [])
        } catch {
            let message = "the file can't be read: \(error.what)"
            return ConfigurationReading(
                configuration: nil, faults: [ConfigurationFault(line: 1, column: 1, key: nil, message: message)],
                warnings: [])
        }
    }

    /// Checks a text as if it was in the file.
    package func check(_ text: some Collection<UInt8>) -> ConfigurationReading { reader.read(text) }

    /// Returns the file's bytes, at most a few more than are allowed; `nil` if there is no file.
    package func text() throws(StoreError) -> [UInt8]? { try Self.bytes(of: path) }

    private static func bytes(of path: String) throws(StoreError) -> [UInt8]? {
        let file: Descriptor
        do {
            // Nonblocking: opening a FIFO would wait for a writer.
            file = try Descriptor(named: path, flags: O_RDONLY | O_NONBLOCK)
        } catch let error where error.code == .notFound {
            return nil
        }
        guard try file.isRegularFile() else { throw StoreError(.unusable, "this isn't a file", place: path) }
        return try file.bytes(at: 0, upTo: ConfigurationText.bytesMax + 1)
    }

    /// Identifies the version that is there now, by inode, size and modification time; `nil` if there is no file.
    package var stamp: String? { StoreDocument.stamp(of: path) }

    /// Whether the file was changed, created or deleted.
    package func changed(since stamp: String?) -> Bool { self.stamp != stamp }

    /// Replaces the file. The replaced version is kept.
    ///
    /// - Parameter stamp: The version that the text was made from.
    /// - Returns: What the new text says.
    /// - Throws: `Invalid`; `StoreError` `changed` if the file is another version now.
    @discardableResult
    package func write(_ text: [UInt8], replacing stamp: String?) throws -> CaptureConfiguration {
        let reading = check(text)
        guard let configuration = reading.configuration else { throw Invalid(faults: reading.faults) }
        guard !changed(since: stamp) else {
            throw StoreError(
                .changed, "the file was changed meanwhile", place: path, hint: "look at it, then make your change again"
            )
        }
        // No file and an empty one mean the same.
        try WholeFile.replace(previousPath, by: try self.text() ?? [])
        try WholeFile.replace(path, by: text)
        return configuration
    }

    /// Returns to the version that the last write replaced. The current one is kept in its place.
    ///
    /// - Throws: `Invalid`; `StoreError` `notFound` if there is none.
    @discardableResult
    package func restorePrevious() throws -> CaptureConfiguration {
        guard let previous = try Self.bytes(of: previousPath) else {
            throw StoreError(.notFound, "there is no previous configuration", place: previousPath)
        }
        return try write(previous, replacing: stamp)
    }
}
