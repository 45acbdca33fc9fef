#if canImport(Glibc)
import CLinux
#endif

/// Memory that the program has freed.
enum UnusedMemory {
    /// Returns it to the system soon, so that a server doesn't keep what its largest list took.
    static func returnToSystem() {
        #if canImport(Glibc)
        clinux_return_unused_memory()
        #endif
    }
}
