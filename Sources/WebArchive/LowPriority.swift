import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Runs work with a lower priority than the rest of the program, so that replay stays fast.
///
/// Linux has a priority for each thread, and an unprivileged one can't get its former priority back: the work runs on a
/// thread of its own.
package enum LowPriority {
    /// Runs `body` on a new thread, and waits for it.
    package static func run<Value>(_ body: () throws -> Value) throws -> Value {
        try withoutActuallyEscaping(body) { body in
            var result: Result<Value, any Error>?
            join(try start { result = Result { try body() } })
            guard let result else { throw failure("the thread ended early") }
            return try result.get()
        }
    }

    /// Runs `body` on a new thread while the caller goes on.
    package static func start<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Running<Value>
    {
        let running = Running<Value>()
        let thread = try start { running.end(Result { try body() }) }
        running.thread.withLock { $0 = thread }
        return running
    }

    /// Work that goes on beside the caller's.
    package final class Running<Value: Sendable>: Sendable {
        fileprivate let thread = Mutex<pthread_t?>(nil)
        private let ended = Mutex<Result<Value, any Error>?>(nil)

        fileprivate func end(_ result: Result<Value, any Error>) { ended.withLock { $0 = result } }

        /// Waits for the work, and returns its result.
        package func result() throws -> Value {
            wait()
            guard let result = ended.withLock({ $0 }) else { throw failure("the thread ended early") }
            return try result.get()
        }

        /// Waits for the work.
        package func wait() {
            thread.withLock { thread in
                if let running = thread { join(running) }
                thread = nil
            }
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

    private static func start(_ body: @escaping () -> Void) throws(WebArchiveError) -> pthread_t {
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        let work = Unmanaged.passRetained(Work(body))
        let status = pthread_create(&thread, nil, main, work.toOpaque())
        guard status == 0 else {
            work.release()
            throw failure("a thread can't be started (error \(status))")
        }
        #if canImport(Glibc)
        return thread
        #else
        guard let thread else { throw failure("a thread can't be started") }
        return thread
        #endif
    }

    private static func failure(_ problem: String) -> WebArchiveError {
        WebArchiveError(code: .io, problem: problem, file: "this computer")
    }

    private static func join(_ thread: pthread_t) { pthread_join(thread, nil) }

    #if canImport(Glibc)
    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { pointer in
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
        if let pointer { Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().run() }
        return nil
    }
    #else
    private static let main: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { pointer in
        pthread_set_qos_class_self_np(QOS_CLASS_BACKGROUND, 0)
        Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().run()
        return nil
    }
    #endif
}
