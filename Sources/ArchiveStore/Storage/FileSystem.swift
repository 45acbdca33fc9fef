import Foundation

#if os(Linux)
import CLinux
#endif

/// The properties of a file system.
struct FileSystem {
    /// The name for people, for example `nfs`; a number in hex if it is unknown.
    let name: String
    /// Whether it is on a network.
    let isRemote: Bool
    let isReadOnly: Bool

    /// Reads the properties of a folder's file system. If that fails, it counts as a local one.
    init(at folder: String) {
        var status = statfs()
        guard statfs(folder, &status) == 0 else {
            self.init(name: "unknown", isRemote: false, isReadOnly: false)
            return
        }
        #if os(Linux)
        let number = UInt32(truncatingIfNeeded: status.f_type)
        let known = Self.remote[number]
        self.init(
            name: known ?? Self.names[number] ?? "0x" + String(number, radix: 16), isRemote: known != nil,
            isReadOnly: Int(status.f_flags) & Int(ST_RDONLY) != 0)
        #else
        let name = withUnsafeBytes(of: status.f_fstypename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        self.init(
            name: name, isRemote: status.f_flags & UInt32(MNT_LOCAL) == 0,
            isReadOnly: status.f_flags & UInt32(MNT_RDONLY) != 0)
        #endif
    }

    private init(name: String, isRemote: Bool, isReadOnly: Bool) {
        (self.name, self.isRemote, self.isReadOnly) = (name, isRemote, isReadOnly)
    }

    /// Whether files in a folder can be locked with `fcntl`, as SQLite does.
    static func canLock(in folder: String) -> Bool {
        guard let file = try? Descriptor(path: folder, flags: O_RDONLY | O_DIRECTORY) else { return true }
        var request = flock()
        request.l_type = Int16(F_RDLCK)
        request.l_whence = Int16(SEEK_SET)
        while fcntl(file.number, F_SETLK, &request) != 0 {
            if errno == EINTR { continue }
            return ![ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP].contains(errno)
        }
        return true
    }

    #if os(Linux)
    /// Source: linux/magic.h, and fs/smb/client/cifsfs.h.
    private static let remote: [UInt32: String] = [
        0x6969: "nfs", 0x517B: "smb", 0xFF53_4D42: "cifs", 0xFE53_4D42: "smb2", 0x0102_1997: "9p", 0x5346_414F: "afs",
        0x00C3_6400: "ceph", 0x7375_7245: "coda", 0x564C: "ncp", 0x6573_5546: "fuse",
    ]
    private static let names: [UInt32: String] = [
        0xEF53: "ext4", 0x5846_5342: "xfs", 0x9123_683E: "btrfs", 0x0102_1994: "tmpfs", 0x4D44: "fat",
        0x2011_BAB0: "exfat", 0x794C_7630: "overlayfs", 0x7371_7368: "squashfs", 0x5346_544E: "ntfs",
    ]
    #endif
}
