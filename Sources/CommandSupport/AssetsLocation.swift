import ArchiveStore
import Foundation

/// The folder `www` with the web app and the replay engine.
package enum AssetsLocation {
    /// Returns the first of `--assets`, `REPLAYHOST_ASSETS`, `<binary>/../share/replayhost/www` and the checkout's `www`.
    package static func choose(option: String?, environment: [String: String], executable: String) -> String {
        if let option { return absolute(option) }
        if let variable = environment["REPLAYHOST_ASSETS"], !variable.isEmpty { return absolute(variable) }
        let binaryFolder = (executable as NSString).deletingLastPathComponent
        let installed = ((binaryFolder as NSString).deletingLastPathComponent as NSString)
            .appendingPathComponent("share/replayhost/www")
        if !FileManager.default.fileExists(atPath: installed), let checkout = StoreLocation.checkout(of: executable) {
            return checkout + "/www"
        }
        return installed
    }

    private static func absolute(_ path: String) -> String {
        URL(fileURLWithPath: path).path
    }
}
