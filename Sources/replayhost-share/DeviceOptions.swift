import ArgumentParser
import Foundation
import ShareKit

/// The options of every command.
struct DeviceOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where this computer keeps its shares; REPLAYHOST_SHARE_FOLDER sets it too.", valueName: "path"))
    var folder: String?

    @Flag(name: .long, help: "Print JSON, one object per line.")
    var json = false

    func validate() throws {
        if folder == "" { throw ValidationError("--folder is empty; give a path") }
    }

    /// Opens the folder, and creates it if it's missing.
    func device() throws -> Device { try Device(path: folder ?? Self.standardFolder) }

    private static var standardFolder: String {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["REPLAYHOST_SHARE_FOLDER"], !path.isEmpty { return path }
        let home = environment["HOME"] ?? NSHomeDirectory()
        #if os(macOS)
        return "\(home)/Library/Application Support/replayhost-share"
        #else
        // XDG Base Directory Specification: a relative path is invalid.
        let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "\(home)/.local/share"
        return "\(data)/replayhost-share"
        #endif
    }

    /// Writes a result to standard output.
    func tell(_ value: some Encodable, _ text: String) {
        if json { Output.writeJSON(value) } else { Output.write(text) }
    }

    /// Writes a result to standard output, as a row if it isn't JSON.
    ///
    /// - Parameter row: Parts with gaps between them. Those from elsewhere were made by `TerminalText.safe`.
    func tell(_ value: some Encodable, row: String) {
        if json { Output.writeJSON(value) } else { Output.writeRow(row) }
    }

    /// Reports an error.
    ///
    /// - Returns: Its exit code.
    func report(_ error: ShareError, at place: String? = nil) -> ExitStatus {
        Output.report(error, at: place, asJSON: json)
        return ExitStatus(error)
    }

    func note(_ text: String) { if !json { Output.note(text) } }
}

/// This computer: what it shares, and the servers that it knows.
struct Device {
    let folder: ShareFolder
    let queue: ShareQueue
    let secrets: FileSecretStore
    let transport: SystemTransport

    init(path: String) throws(ShareError) {
        folder = try ShareFolder(path: path)
        queue = ShareQueue(folder: folder)
        secrets = FileSecretStore(folder: folder)
        transport = SystemTransport(folder: folder)
    }

    /// Returns what sends requests to the selected server.
    ///
    /// - Throws: `ShareError` `notConfigured` before a server is connected.
    func client() throws(ShareError) -> ShareClient {
        guard let profile = try folder.settings().profile else { throw ShareError(.notConfigured) }
        return ShareClient(profile: profile, key: try secrets.key(for: profile.id), transport: transport)
    }

    /// Sends what is due.
    func send() async throws -> ShareSender.Result {
        let settings = try folder.settings()
        let client = settings.profile == nil ? nil : try client()
        let result = try await ShareSender(queue: queue, client: client, settings: settings).send()
        await reportDamages()
        return result
    }

    /// Says which files were damaged.
    func reportDamages() async {
        for damage in await queue.damages {
            Output.note(
                "warning: a file of this computer's shares was damaged. \(damage.recovered) shares could be read; the damaged file is kept as \(damage.keptAs)."
            )
        }
    }

    /// Returns the share of the queue whose ID, or whose download's ID, begins with a text.
    ///
    /// - Throws: `ShareError` `notFound`.
    func share(_ prefix: String) async throws(ShareError) -> Share {
        let found = try await queue.all().filter { $0.id.uuidString.lowercased().hasPrefix(prefix.lowercased()) }
        guard !prefix.isEmpty, found.count == 1 else {
            throw ShareError(
                .notFound,
                found.isEmpty ? "no share has the ID \(prefix)" : "several shares have IDs that begin with \(prefix)")
        }
        return found[0]
    }

    /// Returns the ID of a download, by that ID or the ID of a share of this computer.
    func downloadID(_ text: String) async throws(ShareError) -> String {
        let entries = try await queue.entries().entries
        let shared = entries.filter { !text.isEmpty && $0.id.uuidString.lowercased().hasPrefix(text.lowercased()) }
        return shared.count == 1 ? shared[0].serverDownloadId ?? text : text
    }
}

extension Share {
    /// The beginning of its ID, which commands accept.
    var shortID: String { String(id.uuidString.lowercased().prefix(8)) }
}
