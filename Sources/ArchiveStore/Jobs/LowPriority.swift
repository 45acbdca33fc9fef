#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Runs work with a lower priority than the rest of the program, so that replay stays fast.
///
/// Linux has a priority for each thread, and an unprivileged one can't get its former priority back: the work runs on a
/// thread of its own.
enum LowPriority {
    /// Runs `body` on a new thread, and waits for it.
    static func run<Value>(_ body: () throws -> Value) throws -> Value {
        try withoutActuallyEscaping(body) { body in
            var result: Result<Value, any Error>?
            try start { result = Result { try body() } }
            guard let result else { throw StoreError(.failed, "the thread ended early") }
            return try result.get()
        }
    }

    /// A third of the share of an ordinary thread. With the lowest priority, work would hardly go on beside other programs.
    private static let niceness: Int32 = 5

    private final class Work {
        private var body: (() -> Void)?

        init(_ body: @escaping () -> Void) {
            self.body = body
        }

        func run() {
            body?()
            // The caller's closure must not outlive the call.
            body = nil
        }
    }

    private static func start(_ body: () -> Void) throws(StoreError) {
        try withoutActuallyEscaping(body) { (body) throws(StoreError) in
            let work = Work(body)
            #if canImport(Glibc)
            var thread = pthread_t()
            #else
            var thread: pthread_t?
            #endif
            let status = pthread_create(&thread, nil, main, Unmanaged.passUnretained(work).toOpaque())
            guard status == 0 else { throw StoreError(.failed, "can't start a thread (error \(status))") }
            #if canImport(Glibc)
            pthread_join(thread, nil)
            #else
            if let thread { pthread_join(thread, nil) }
            #endif
            withExtendedLifetime(work) {}
        }
    }

    #if canImport(Glibc)
    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { pointer in
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
        if let pointer { Unmanaged<Work>.fromOpaque(pointer).takeUnretainedValue().run() }
        return nil
    }
    #else
    private static let main: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { pointer in
        pthread_set_qos_class_self_np(QOS_CLASS_BACKGROUND, 0)
        Unmanaged<Work>.fromOpaque(pointer).takeUnretainedValue().run()
        return nil
    }
    #endif
}
