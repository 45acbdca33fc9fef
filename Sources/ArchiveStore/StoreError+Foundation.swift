package import Foundation

extension StoreError {
    /// Converts an error of Foundation's file functions, whose own description lists every field.
    ///
    /// - Parameter path: The file or folder concerned; `nil` for the one that the error names.
    package static func file(_ error: CocoaError, doing action: String, path: String? = nil) -> StoreError {
        let path = path ?? error.filePath ?? error.url?.path ?? ""
        guard let cause = error.underlying as? POSIXError else {
            return StoreError(.failed, "\(action) failed (code \(error.code.rawValue))", place: path)
        }
        return .system(cause.code.rawValue, doing: action, path: path)
    }
}
