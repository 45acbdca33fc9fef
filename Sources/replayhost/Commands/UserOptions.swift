import ArgumentParser
import Foundation
import ReplayHostKit

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Which users of this computer a server answers.
struct UserOptions: ParsableArguments {
    @Option(
        name: .customLong("allow-user"),
        help: ArgumentHelp("Also let this user of the computer connect. Can be repeated.", valueName: "name or uid"))
    var names: [String] = []

    @Flag(name: .customLong("allow-other-users"), help: "Let every user of this computer connect.")
    var allowsEveryone = false

    func validate() throws {
        for name in names where Self.identifier(of: name) == nil {
            throw ValidationError("this computer has no user \"\(name)\"")
        }
    }

    /// With the user who started this program by `sudo`.
    func users(_ environment: [String: String]) -> ReplayHost.AllowedUsers {
        if allowsEveryone { return .everyone }
        let sudo = environment["SUDO_UID"].flatMap { UInt32($0) }
        return .own(and: Set(names.compactMap(Self.identifier) + [sudo].compactMap { $0 }))
    }

    /// The same options for a server that is started.
    var arguments: [String] {
        names.flatMap { ["--allow-user", $0] } + (allowsEveryone ? ["--allow-other-users"] : [])
    }

    private static func identifier(of name: String) -> UInt32? {
        if let user = getpwnam(name) { return user.pointee.pw_uid }
        // The last one stands for no user in chown(2) and others.
        return UInt32(name).flatMap { $0 == .max ? nil : $0 }
    }
}
