package import ArchiveStore
import Foundation

/// The addresses of the viewer, as `www/app/core/routes.js` reads them.
package enum ViewerAddress {
    /// Path, query and fragment of an archive or a collection at its main page, or at one of its captures.
    ///
    /// - Parameter timestamp: Of the capture wanted; empty for the latest.
    package static func path(of replayable: Replayable, url: String? = nil, timestamp: String = "") -> String {
        let place =
            switch replayable {
            case .archive(let archive): "/?archive=\(archive.filePath)"
            case .collection(let collection, _): "/?collection=\(collection.id)"
            }
        guard let url else { return place }
        let escaped = url.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
        return "\(place)#url=\(escaped)&ts=\(timestamp)"
    }

    /// RFC 3986 §2.3.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
