import Foundation

/// The limit of open files. A server keeps those of many archives open, and its connections.
enum OpenFiles {
    /// Raises the soft limit, often 1,024, to `enough` or the hard limit, whichever is lower. setrlimit(2).
    static func raiseLimit() {
        #if os(Linux)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < min(limit.rlim_max, enough) else { return }
        limit.rlim_cur = min(limit.rlim_max, enough)
        // If this fails, the server works with the lower limit.
        _ = setrlimit(resource, &limit)
    }

    /// macOS refuses more than this (`OPEN_MAX`).
    private static let enough: rlim_t = 10_240
}
