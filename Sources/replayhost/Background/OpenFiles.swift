#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// How many files this process may have open: a server keeps those of many archives, and its connections.
enum OpenFiles {
    /// Raises the soft limit, which is often 1,024, as far as the hard one allows, to `enough` at most. setrlimit(2).
    static func raiseLimit() {
        #if os(Linux)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < min(limit.rlim_max, enough) else { return }
        limit.rlim_cur = min(limit.rlim_max, enough)
        // Where that is refused the server works with what it has.
        _ = setrlimit(resource, &limit)
    }

    /// macOS refuses more than this (`OPEN_MAX`).
    private static let enough: rlim_t = 10_240
}
