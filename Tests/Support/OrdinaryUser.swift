import Foundation

#if os(Linux)
import CLinux
#endif

/// Whether `asOrdinaryUser` can do what it says.
package let haveOrdinaryUser: Bool = {
    #if os(Linux)
    true
    #else
    geteuid() != 0
    #endif
}()

/// Runs `body`, on this thread alone, as a user whom permissions bind: root reads and writes everything.
///
/// - Parameter folder: Belongs to that user meanwhile, with all that is in it.
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
        // What is asked for last is the user that it has.
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
