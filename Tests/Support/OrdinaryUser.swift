import Foundation

#if os(Linux)
import CLinux
#endif

/// Whether `asOrdinaryUser` works in this environment.
package let haveOrdinaryUser: Bool = {
    #if os(Linux)
    true
    #else
    geteuid() != 0
    #endif
}()

/// Runs `body` on this thread as an unprivileged user, because root ignores file permissions.
///
/// - Parameter folder: A folder that the user owns meanwhile, with its contents.
package func asOrdinaryUser<Value>(owning folder: TemporaryFolder, _ body: () throws -> Value) throws -> Value {
    guard geteuid() == 0 else { return try body() }
    #if os(Linux)
    func give(to user: uid_t) throws {
        for name in [""] + (try FileManager.default.subpathsOfDirectory(atPath: folder.path)) {
            guard lchown(folder.path(name), user, gid_t(user)) == 0 else { throw POSIXError(.EPERM) }
        }
    }
    let nobody: uid_t = 65_534
    try give(to: nobody)
    setfsuid(nobody)
    let result = Result {
        // The last call only queries the current user.
        guard setfsuid(nobody) == Int32(nobody) else { throw POSIXError(.EPERM) }
        return try body()
    }
    setfsuid(0)
    try give(to: 0)
    return try result.get()
    #else
    return try body()
    #endif
}
