/// A step of a simulation that another run with the same seed might not repeat.
public enum SimulationError: Error, Hashable, CustomStringConvertible {
    /// A job was handed to another executor than a simulated loop. Names the executor, the function in which the job would have
    /// resumed, and its callers.
    case escaped(executor: String, job: String, loop: String?, callers: String)
    /// A loop was woken from a thread other than the simulation's.
    case otherThread(loop: String)

    public var description: String {
        switch self {
        case .escaped(let executor, let job, let loop, let callers):
            """
            a job left the simulation for \(executor): \(job), \(loop.map { "in an iteration of loop \($0)" } ?? "outside any loop"). \
            Start its task with executorPreference, or use the loop's clock to sleep. It was enqueued by
            \(callers)
            """
        case .otherThread(let loop):
            "loop \(loop) was woken from another thread, outside of the simulation"
        }
    }
}
