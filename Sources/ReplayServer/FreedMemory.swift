#if canImport(Glibc)
import CLinux
#endif

/// Memory that was freed, and that the C library keeps.
///
/// The buffers of thousands of connections lie between blocks that are still used, so the C library doesn't return them to
/// the system by itself.
enum FreedMemory {
    /// Returns it to the system from time to time, until the task is cancelled.
    static func returnToSystem() async {
        #if canImport(Glibc)
        // What can't be returned.
        var kept = 0
        while (try? await Task.sleep(for: interval)) != nil {
            let freed = clinux_freed_memory()
            kept = min(kept, freed)
            guard freed > kept + step else { continue }
            _ = try? await BlockingWork()({ clinux_trim_memory() })
            kept = clinux_freed_memory()
        }
        #endif
    }

    private static let interval = Duration.seconds(10)
    /// Less isn't worth the time.
    private static let step = 12 << 20
}
