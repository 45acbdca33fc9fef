import Synchronization
import WebArchive

/// A file that is received piece by piece and imported as a job.
///
/// The job ends with the import or the first error, and is cancelled if the value is released before.
package final class Upload: Sendable {
    private let job: ImportJob
    private let incoming: IncomingArchive
    /// The expected size in bytes.
    private let size: UInt64

    init(_ job: ImportJob, _ incoming: IncomingArchive, size: UInt64) {
        (self.job, self.incoming, self.size) = (job, incoming, size)
    }

    deinit {
        if !job.isOver.load(ordering: .relaxed) { job.end(.failure(incomplete)) }
    }

    /// Appends bytes to the file.
    ///
    /// - Throws: Also if the job was cancelled.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(FailedUpload) {
        try job.attempt {
            try incoming.write(bytes)
            try job.advance(to: incoming.size)
        }
    }

    /// Imports the file.
    ///
    /// - Throws: Also `uploadCut` if the file is incomplete.
    package func finish() throws(FailedUpload) -> ImportResult {
        try job.attempt {
            guard incoming.size == size else { throw incomplete }
            let result = try job.jobs.store.withImporter(ImportOptions(), job.track) { try $0.finish(incoming) }
            job.end(.success(result))
            return result
        }
    }

    private var incomplete: StoreError {
        let progress = ByteSize.progress(incoming.size, of: size)
        return StoreError(.uploadCut, "the upload was interrupted at \(progress)", hint: "add the file again")
    }
}

/// The error of an upload, with its job.
package struct FailedUpload: Error {
    package let job: Int64
    package let reason: any Error
}
