package import Records
package import StoreTables

extension JournaledStore {
    /// Holds all rows against the heads; ends soon once the task is cancelled.
    ///
    /// - Parameter look: looks at something else in the same database transaction.
    package func surveyRows(and look: @escaping @Sendable (StoreReading) throws -> Void = { _ in }) async throws
        -> RowSurvey
    {
        let isCancelled = Kept<Bool>()
        return try await withTaskCancellationHandler {
            try await survey { store in
                try look(store)
                return try store.surveyRows { isCancelled.value == nil }
            }
        } onCancel: {
            isCancelled.value = true
        }
    }
}
