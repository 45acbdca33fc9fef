import Foundation

/// The control group of this process, which a container or systemd limits. cgroups(7)
package enum ControlGroup {
    /// The memory that the group can have, in bytes; `nil` without a limit.
    package static var memoryMax: UInt64? {
        #if os(Linux)
        // NUMBER:CONTROLLERS:PATH; in version 2, there is one line without controllers.
        let lines = ProcessTree.content("/proc/self/cgroup")?.split(separator: "\n") ?? []
        let files = lines.flatMap { line -> [String] in
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [] }
            // In a container, the path can be that outside of it.
            let paths = ["\(fields[2])/", "/"]
            if fields[1].isEmpty { return paths.map { "/sys/fs/cgroup\($0)memory.max" } }
            guard fields[1].split(separator: ",").contains("memory") else { return [] }
            return paths.map { "/sys/fs/cgroup/memory\($0)memory.limit_in_bytes" }
        }
        // Without a limit: "max", in version 1 a number that is larger than any memory.
        return files.compactMap { ProcessTree.content($0).flatMap { UInt64($0.trimmingCharacters(in: .newlines)) } }
            .min()
        #else
        return nil
        #endif
    }
}
