package import ArchiveStore
package import Foundation

/// URLs of the viewer, as `www/app/core/routes.js` parses them.
package enum ViewerAddress {
    /// Returns the path, query and fragment for the main page or a capture.
    ///
    /// - Parameter timestamp: The time of the capture; empty for the latest.
    package static func path(of replayable: Replayable, url: String? = nil, timestamp: String = "") -> String {
        let place =
            switch replayable {
            case .archive(let archive): "/?archive=\(archive.filePath)"
            case .collection(let collection, _): "/?collection=\(collection.id)"
            }
        guard let url else { return place }
        let escaped = url.addingPercentEncoding(withAllowedCharacters: .unreserved) ?? ""
        return "\(place)#url=\(escaped)&ts=\(timestamp)"
    }
}

extension CharacterSet {
    /// RFC 3986 §2.3.
    package static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
