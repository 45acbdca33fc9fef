import ArchiveStore
import Foundation
import ReplayHostKit
import WebArchive

/// An error with its exit code, reported as text or as JSON.
package struct CommandError: Error {
    package let status: ExitStatus
    package let code: String
    package let what: String
    package var place: String?
    package var hint: String?

    package init(_ status: ExitStatus, code: String, _ what: String, place: String? = nil, hint: String? = nil) {
        (self.status, self.code, self.what, self.place, self.hint) = (status, code, what, place, hint)
    }

    /// Creates a usage error.
    package init(usage what: String, hint: String) {
        status = .usage
        code = "usage"
        (self.what, self.hint) = (what, hint)
    }

    /// Converts any error thrown by a command.
    package init(_ error: any Error) {
        if let error = error as? CommandError {
            self = error
            return
        }
        let converted = ReplayHostError(error)
        (code, what, place, hint) = (converted.code, converted.what, converted.place, converted.hint)
        switch converted.code {
        case "port-in-use":
            status = .portInUse
            hint = "stop that program, or choose another port (--port 0 picks a free one)"
        case "port-unavailable": status = .portInUse
        case "users-unknown":
            status = .failed
            hint = "add --allow-other-users to let every user of this computer connect"
        default: status = StoreError.Code(rawValue: converted.code).map(Self.status) ?? .failed
        }
    }

    private static func status(of code: StoreError.Code) -> ExitStatus {
        switch code {
        case .notFound: .notFound
        case .ambiguous, .payloadMissing, .redirectsToItself: .notFound
        case .invalidMetadata, .invalidQuery: .usage
        case .refused, .archiveDamaged: .damaged
        case .unusable, .notAFile, .locked, .catalogDamaged, .documentDamaged: .storeUnusable
        case .noSpace, .failed, .unavailable, .changed, .taken, .notPossible: .failed
        case .interrupted, .uploadCut: .interrupted
        }
    }

    /// Parses an error that another replayhost wrote as JSON; `nil` when the line isn't one.
    package init?(json line: String, status: ExitStatus?) {
        guard line.hasPrefix("{"), let form = try? JSONDecoder().decode(JSONForm.self, from: Data(line.utf8)) else {
            return nil
        }
        self.status = status ?? .failed
        (code, what, place, hint) = (form.error.code, form.error.what, form.error.where, form.error.hint)
    }

    private struct JSONForm: Codable {
        struct Details: Codable {
            let code: String
            let what: String
            let `where`: String?
            let hint: String?
        }
        let error: Details
    }

    /// The error in one line: `place: what`.
    package var message: String { [place, what].compactMap { $0 }.joined(separator: ": ") }

    /// Writes the error and its hint to standard error.
    package func report(asJSON: Bool) {
        if asJSON {
            let details = JSONForm.Details(code: code, what: what, where: place, hint: hint)
            return Terminal.writeJSON(JSONForm(error: details), toError: true)
        }
        Terminal.writeError(message, label: .error)
        if let hint { Terminal.writeError(hint, label: .hint) }
    }
}
