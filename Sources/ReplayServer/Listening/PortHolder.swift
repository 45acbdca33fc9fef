import Foundation

/// Finds the program that listens on a port.
enum PortHolder {
    /// Returns the program, for example `nginx (process 4711)`; `nil` if the system doesn't tell.
    ///
    /// - Parameter address: The address, because another program may have the same port on the other one.
    static func name(port: Int, address: LoopbackAddress) -> String? {
        #if os(Linux)
        let sockets = inodes(port: port, address: address)
        guard !sockets.isEmpty, let processes = try? FileManager.default.contentsOfDirectory(atPath: "/proc") else {
            return nil
        }
        for process in processes where Int(process) != nil {
            let folder = "/proc/\(process)/fd"
            guard let descriptors = try? FileManager.default.contentsOfDirectory(atPath: folder) else { continue }
            for descriptor in descriptors {
                guard
                    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(descriptor)"),
                    sockets.contains(target)
                else { continue }
                let command = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
                let name = command?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "a program"
                return "\(name) (process \(process))"
            }
        }
        #endif
        return nil
    }

    #if os(Linux)
    /// Returns the listening sockets of a port, written like the links in `/proc/PID/fd`.
    private static func inodes(port: Int, address: LoopbackAddress) -> Set<String> {
        let hexPort = ":" + String(format: "%04X", port)
        let places = Set(names(of: address).map { $0 + hexPort })
        var found: Set<String> = []
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            guard let text = try? String(contentsOfFile: table, encoding: .utf8) else { continue }
            for line in text.split(separator: "\n").dropFirst() {
                // sl local_address rem_address st … inode: columns 1, 3 and 9; state 0A is LISTEN.
                let columns = line.split(separator: " ")
                if columns.count > 9, places.contains(String(columns[1])), columns[3] == "0A" {
                    found.insert("socket:[\(columns[9])]")
                }
            }
        }
        return found
    }

    /// Returns how the tables write the address and the wildcards that include it. Each four-byte word is reversed.
    private static func names(of address: LoopbackAddress) -> [String] {
        let anyOfIPv6 = String(repeating: "0", count: 32)
        switch address {
        case .v4: return ["0100007F", "00000000", anyOfIPv6]
        case .v6: return [String(repeating: "0", count: 24) + "01000000", anyOfIPv6]
        }
    }
    #endif
}
