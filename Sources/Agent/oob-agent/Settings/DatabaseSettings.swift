#if PostgreSQL
import DurableFiles
import Keys
import PostgresStore
import Records

/// The settings of the database that several hosts share.
struct DatabaseSettings {
    let settings: PostgresSettings
    let host: HostName

    /// The database's URL, for people.
    var place: String { "\(settings.url)" }

    /// Reads the settings.
    ///
    /// `nil` if the store is a file.
    ///
    /// - Parameter isMigration: whether `--migrate-to` may name the database instead.
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

    /// The database to which a state is moved.
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
        // A frozen host then locks no row for longer, and no statement blocks others for long.
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
    /// Refuses settings that need PostgreSQL.
    func expectNoPostgreSQL() throws(StartError) {
        for setting in [Setting.database, .databasePasswordFile, .hostName, .hostLease] {
            guard let found = find(setting) else { continue }
            throw StartError(found.status, "\(found.place): this agent was built without PostgreSQL")
        }
    }
}
#endif
