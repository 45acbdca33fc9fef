import Foundation

/// A process and those that it started, directly or not. Only Linux tells them.
struct ProcessTree: Sendable {
    struct Member: Sendable, Hashable {
        let id: pid_t
        /// Its memory, swapped or not. Memory that several processes share counts for each; mapped files don't count.
        let bytes: UInt64
    }

    /// The largest first.
    let members: [Member]

    var bytes: UInt64 { members.reduce(0) { $0 + $1.bytes } }

    /// - Parameter root: The first process. One that ended has no members.
    init(of root: pid_t) {
        #if os(Linux)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        var children: [pid_t: [pid_t]] = [:]
        for id in names.compactMap({ pid_t($0) }) { Self.parent(of: id).map { children[$0, default: []].append(id) } }
        var ids = [root]
        var index = 0
        while index < ids.count {
            ids += children[ids[index]] ?? []
            index += 1
        }
        members = ids.compactMap { id in Self.bytes(of: id).map { Member(id: id, bytes: $0) } }
            .sorted { $0.bytes > $1.bytes }
        #else
        members = []
        #endif
    }

    #if os(Linux)
    /// `/proc/PID/stat`: PID (NAME) STATE PARENT …; the name can have any characters. proc_pid_stat(5)
    private static func parent(of id: pid_t) -> pid_t? {
        content("/proc/\(id)/stat")?.split(separator: ")").last?.split(separator: " ").dropFirst().first
            .flatMap { pid_t($0) }
    }

    /// proc_pid_status(5)
    private static func bytes(of id: pid_t) -> UInt64? {
        guard let lines = content("/proc/\(id)/status")?.split(separator: "\n") else { return nil }
        let kinds = ["RssAnon:", "RssShmem:", "VmSwap:"]
        let counts = lines.filter { line in kinds.contains(where: line.hasPrefix) }
            .compactMap { UInt64($0.split(whereSeparator: \.isWhitespace)[1]) }
        return counts.reduce(0) { $0 + $1 * 1024 }
    }

    static func content(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
    #endif
}
