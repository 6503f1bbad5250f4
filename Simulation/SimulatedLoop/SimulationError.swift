/// Says that a simulation did something that it would not do again with the same seed.
public enum SimulationError: Error, Hashable, CustomStringConvertible {
    /// A job was handed to another executor than a simulated loop. Names the executor, the function that the job would have
    /// gone on with, and the functions that led to it.
    case escaped(executor: String, job: String, loop: String?, callers: String)
    /// A loop was woken from a thread that is not the simulation's.
    case otherThread(loop: String)

    public var description: String {
        switch self {
        case .escaped(let executor, let job, let loop, let callers):
            """
            a job left the simulation for \(executor): \(job), \(loop.map { "in a turn of loop \($0)" } ?? "outside any loop"). \
            Start its task with executorPreference, or let it sleep by its loop. It was enqueued by
            \(callers)
            """
        case .otherThread(let loop):
            "loop \(loop) was woken from another thread: something answers from outside the simulation"
        }
    }
}
