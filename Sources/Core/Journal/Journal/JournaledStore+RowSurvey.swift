package import Records
package import StoreTables

extension JournaledStore {
    /// Compares all rows with the heads, and stops soon after the task is cancelled.
    ///
    /// - Parameter look: reads other data in the same database transaction.
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
