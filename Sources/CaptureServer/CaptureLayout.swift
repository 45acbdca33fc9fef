package import ArchiveStore
import CaptureAPI
import Foundation

/// The paths in `STORE/capture/`, and of the folder with saved files.
///
///     capture.sqlite   the queue
///     capture.json     URL and token of the running server, which keeps it locked
///     config.yaml      the configuration; config.yaml.previous is the version before
///     sessions/        a folder for each active download: parts, job.json, log.txt, egress.jsonl
///     received/        what was taken out of a session folder, until it's in the library, or its preview is closed
///     paused           there while the queue is paused
///     egress.allow     hosts of an intranet that may be saved from
///     tls/             the root certificate, the server's, and their keys
///     cookies/         USER.txt: cookies that tools get a copy of
///     logs/            yyyy-mm/log_UUID.zst of each download; server.log
package struct CaptureLayout: Sendable {
    package let store: StoreLayout
    /// The folder with saved files, which the configuration can change while the server runs.
    private let place: Current<String>

    package init(store: StoreLayout, downloads: String) {
        (self.store, place) = (store, Current(downloads))
    }

    /// The folder with saved files: `USERNAME/GENRE/NAME`. All copies of this value have the same.
    package var downloads: String {
        get { place.value }
        nonmutating set { place.value = newValue }
    }

    package var root: String { store.capture }
    package var sessions: String { root + "/sessions" }
    /// What was taken out of session folders, until it's in the library and in its folder. Tools can't reach it.
    var received: String { root + "/received" }
    package var egressAllow: String { root + "/egress.allow" }
    package var cookies: String { root + "/cookies" }
    package var certificates: String { root + "/tls" }
    package var configuration: String { root + "/config.yaml" }
    package var logs: String { root + "/logs" }
    /// Its existence at a start pauses the queue.
    var pauseMark: String { root + "/paused" }
    package var serverLog: String { logs + "/server.log" }

    func session(_ id: String) -> String { "\(sessions)/\(id)" }

    /// The cookies of a user.
    package func cookies(of user: String) -> String { "\(cookies)/\(user).txt" }

    /// The folder with the files of a download.
    func folder(_ row: DownloadRow) -> String { "\(downloads)/\(row.username)/\(row.folder ?? row.genre)" }

    /// The folder with what was taken out of a download's session.
    func received(_ row: DownloadRow) -> String { "\(received)/\(row.sessionID)" }

    /// The file of a download, until it's in its folder or its preview is closed. Not a name that the archive can have.
    func receivedFile(_ row: DownloadRow) -> String { "\(received(row))/.file" }

    /// The file of a download: in its folder, or as long as it's only shown; `nil` if it has none.
    package func file(_ row: DownloadRow) -> String? {
        row.fileName.map { row.downloadState == .previewReady ? receivedFile(row) : "\(folder(row))/\($0)" }
    }

    /// Returns the nearest folder above a path that exists, or the path itself.
    package static func existing(_ path: String) -> String {
        var existing = path
        while !Folder.exists(existing), existing.count > 1 {
            existing = (existing as NSString).deletingLastPathComponent
        }
        return existing
    }

    package func makeFolders() throws {
        for folder in [root, sessions, received, cookies, logs] { try Folder.create(folder) }
        Folder.makePrivate(root)
    }
}
