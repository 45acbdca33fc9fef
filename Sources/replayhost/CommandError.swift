import ArchiveStore
import Foundation
import ReplayHostKit
import WebArchive

/// An error as a person (or a program that reads JSON) gets it, with its exit code. The one place that makes these.
struct Fault: Error {
    let status: ExitStatus
    let code: String
    let what: String
    var place: String?
    var hint: String?

    private init(_ error: StoreError) {
        status = Self.status(of: error.code)
        (code, what, place, hint) = (error.code.rawValue, error.what, error.place, error.hint)
    }

    private init(_ error: ReplayHostError) {
        (code, what, place, hint) = (error.code, error.what, error.place, error.hint)
        switch error.code {
        case "port-in-use":
            status = .portInUse
            hint = "stop that program, or choose another port: --port 0 takes any free one"
        case "port-unavailable": status = .portInUse
        case "users-unknown":
            status = .failed
            hint = "to let every user of this computer connect, add --allow-other-users"
        default: status = StoreError.Code(rawValue: error.code).map(Self.status) ?? .failed
        }
    }

    /// What a command was asked that only its work showed to be impossible.
    init(usage what: String, hint: String) {
        status = .usage
        code = "usage"
        (self.what, self.hint) = (what, hint)
    }

    /// Any error of a command that ran.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self.init(error)
        default: self.init(ReplayHostError(error))
        }
    }

    private static func status(of code: StoreError.Code) -> ExitStatus {
        switch code {
        case .notFound: .notFound
        case .ambiguous, .payloadMissing, .redirectsToItself: .notFound
        case .invalidMetadata: .usage
        case .refused, .archiveDamaged: .damaged
        case .unusable, .locked, .catalogDamaged, .documentDamaged: .storeUnusable
        case .noSpace, .failed, .unavailable, .changed, .taken, .notPossible: .failed
        case .interrupted, .uploadCut: .interrupted
        }
    }

    /// What another replayhost reported; `nil` for a line that is no such report.
    init?(json line: String, status: ExitStatus?) {
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

    /// Writes it to standard error.
    func report(asJSON: Bool) {
        if asJSON {
            Terminal.writeError(Terminal.json(JSONForm(error: .init(code: code, what: what, where: place, hint: hint))))
            return
        }
        Terminal.writeError("\(what)\(place.map { ", \($0)" } ?? "")", label: .error)
        if let hint { Terminal.writeError(hint, label: .hint) }
    }
}
