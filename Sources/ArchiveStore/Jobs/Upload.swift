import Synchronization

/// A file that comes piece by piece, imported as a job. It cannot be begun again: what came is gone.
///
/// The job ends with the import or with the first error, and is cancelled when the value is let go of before.
package final class Upload: Sendable {
    private let job: ImportJob
    private let incoming: IncomingArchive
    /// Bytes that are to come.
    private let size: UInt64

    init(_ job: ImportJob, _ incoming: IncomingArchive, size: UInt64) {
        (self.job, self.incoming, self.size) = (job, incoming, size)
    }

    deinit {
        if !job.isOver.load(ordering: .relaxed) { job.end(.failure(cut)) }
    }

    /// Adds bytes to the file.
    ///
    /// - Throws: Also when somebody cancelled the job.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(FailedUpload) {
        try job.attempt {
            try incoming.write(bytes)
            try job.advance(to: incoming.size)
        }
    }

    /// Brings the file into the store.
    ///
    /// - Throws: Also `uploadCut` when not all of it came.
    package func finish() throws(FailedUpload) -> ImportResult {
        try job.attempt {
            guard incoming.size == size else { throw cut }
            let result = try job.jobs.store.withImporter(ImportOptions(), job.follow) { try $0.finish(incoming) }
            job.end(.success(result))
            return result
        }
    }

    private var cut: StoreError {
        StoreError(.uploadCut, "the upload ended after \(incoming.size) of \(size) bytes", hint: "send it again")
    }
}

/// Why an upload was not imported, and which job says so too.
package struct FailedUpload: Error {
    package let job: Int64
    package let reason: any Error
}
