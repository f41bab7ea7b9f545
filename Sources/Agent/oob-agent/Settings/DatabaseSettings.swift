#if PostgreSQL
import DurableFiles
import Keys
import PostgresStore
import Records

/// The database that several hosts share, as the settings name it.
struct DatabaseSettings {
    let settings: PostgresSettings
    let host: HostName

    /// Where it is, for people.
    var place: String { "\(settings.url)" }

    /// Reads what the settings name; nil if the store is a file.
    ///
    /// - Parameter isMigration: whether a database may be named elsewhere.
    static func read(_ source: SettingSource, isMigration: Bool) throws(StartError) -> DatabaseSettings? {
        guard let found = source.find(.database) else {
            guard !isMigration else { return nil }
            for other in [Setting.databasePasswordFile, .hostName, .hostLease] {
                guard let found = source.find(other) else { continue }
                throw .missing(.database, beside: found)
            }
            return nil
        }
        return try read(found, source)
    }

    /// The database that a state is moved to.
    static func target(_ url: String, _ source: SettingSource) throws(StartError) -> DatabaseSettings {
        try read(SettingSource.Found(value: url, place: "--migrate-to", status: .usage), source)
    }

    private static func read(
        _ found: SettingSource.Found, _ source: SettingSource
    ) throws(StartError) -> DatabaseSettings {
        guard let name = source.find(.hostName) else { throw .missing(.hostName, beside: found) }
        guard let host = HostName(name.value) else {
            throw StartError(
                name.status,
                "\(name.place): must have 1 to 63 lower-case letters, digits, hyphens and dots, such as bank-a.example")
        }
        let url: PostgresURL
        do throws(PostgresURL.Problem) {
            url = try PostgresURL(found.value)
        } catch {
            throw StartError(found.status, "\(found.place): \(error)")
        }
        var limits = PostgresLimits()
        // A host that is frozen holds no row for longer, and no statement keeps others waiting.
        (limits.statement, limits.lock, limits.idleInTransaction) = (.seconds(5), .seconds(3), .seconds(5))
        return DatabaseSettings(
            settings: PostgresSettings(url: url, password: try password(source), limits: limits), host: host)
    }

    private static func password(_ source: SettingSource) throws(StartError) -> PostgresPassword? {
        guard let found = source.find(.databasePasswordFile) else { return nil }
        try source.checkPath(found)
        let secret: Secret
        do throws(FileError) {
            secret = try SecretFile.read(found.value, maxBytes: PostgresPassword.limit + 1, privacy: .credential)
        } catch {
            throw StartError(.config, "\(found.place): \(error)")
        }
        guard let password = unsafe secret.withBytes({ bytes in unsafe PostgresPassword(Array(bytes)) }) else {
            throw StartError(
                .config,
                "\(found.place): \(found.value): must hold one line of 1 to \(PostgresPassword.limit) bytes of UTF-8")
        }
        return password
    }
}
#else
extension SettingSource {
    /// Refuses what goes with PostgreSQL.
    func expectNoPostgreSQL() throws(StartError) {
        for setting in [Setting.database, .databasePasswordFile, .hostName, .hostLease] {
            guard let found = find(setting) else { continue }
            throw StartError(found.status, "\(found.place): this agent was built without PostgreSQL")
        }
    }
}
#endif
