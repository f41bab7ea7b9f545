import AgentHost
import Custody
import Keys
import Logging
import Records
import SQLiteBackup
import SQLiteStore
import StoreTables
import Threads
import Versioning

#if PostgreSQL
import DurableFiles
import PostgresStore
#endif

/// The open store, in a SQLite file or in a PostgreSQL database.
struct OpenedStore {
    let store: any Store
    /// This host's shares of the work, or `nil` if it has the store to itself.
    let shares: (any WorkShares)?
    let copier: any StateCopier
    /// The threads on which tasks call a local store directly, or `nil` for a remote store.
    var threads: OwnThreads?
    /// Weaknesses of the store's place.
    var findings: @Sendable () async -> [Finding] = { [] }
    /// Releases the store's caches, soon after it returns.
    var releaseMemory: @Sendable () -> Void = {}
    let close: @Sendable () throws -> Void
    /// Whether all data is sealed under the present secret, which needs all hosts to have it.
    var isPresentSecretInUse = true
    /// Abandons a change of the secret that has not changed any data.
    var abandonSecretChange: @Sendable () async throws -> Void = {}

    /// Runs work that uses the store.
    func perform(_ body: () async throws -> Void) async throws {
        guard let threads else { return try await body() }
        try await WorkThreads.$preferred.withValue(threads.executor) { try await threads.perform(body) }
    }
}

extension AgentProcess {
    /// Opens the store that the settings name.
    ///
    /// - Parameters:
    ///   - secrets: the sealing secrets. The previous one seals while another host lacks the present one.
    ///   - mayChangeSecret: whether all data may be sealed again under the present secret, if there is a previous one.
    ///   - isSecretNew: whether the secret was just generated. It is in a file only if the state is in the state
    ///     directory.
    ///   - clock: the clock for the time of a backup.
    func openStore(
        _ scratch: Scratch, _ secrets: SealingSecrets, mayChangeSecret: Bool, isSecretNew: Bool, clock: any AgentClock
    ) async throws -> OpenedStore {
        #if PostgreSQL
        if let database = settings.database {
            return try await openDatabase(
                database, secrets, mayChangeSecret: mayChangeSecret, isSecretNew: isSecretNew)
        }
        #endif
        let directory = settings.stateDirectory
        let store = try SQLiteDatabase(
            path: "\(directory)/\(StateFiles.database)", scratch: scratch,
            seals: RowSealer(secrets), dataKeys: DataKeySealer(secrets))
        let copier = Backups(directory: directory, store: store, clock: clock, version: SoftwareVersion.text)
        return OpenedStore(
            store: store, shares: nil, copier: copier, threads: store.threads, releaseMemory: store.releaseMemory,
            close: { try store.close() })
    }

    #if PostgreSQL
    private func openDatabase(
        _ database: DatabaseSettings, _ secrets: SealingSecrets, mayChangeSecret: Bool, isSecretNew: Bool
    ) async throws -> OpenedStore {
        let host = PostgresHost(
            name: database.host, identity: try hostIdentity(),
            lease: .milliseconds(settings.hostLease))
        let (present, previous) = try secrets.fingerprints()
        let auditKeys = SealedAuditKeys(secrets)
        let store: PostgresStore
        do {
            store = try PostgresStore(
                database.settings, host: host, seals: RowSealer(secrets), dataKeys: DataKeySealer(secrets),
                clock: SystemClock(),
                secrets: HostSecrets(present: present, previous: previous, mayBeginChange: mayChangeSecret),
                opening: { try auditKeys.isUnderPrevious($0) ? .previous : .present })
        } catch let error as SecretChangeRefusal {
            throw StartError(.config, "\(error)")
        } catch let error as PostgresMoveError {
            throw StartError(.dataError, "\(error)")
        } catch is SealError {
            guard !isSecretNew else { throw SecretSource.missing(beside: "the state in the database", settings) }
            throw StartError(
                .config,
                "the secret is not the one that the other hosts have: give that one (--secret-file), and while it is being "
                    + "changed the previous one as well (--previous-secret-file)")
        }
        // The state is still in this database. The copy of an interrupted move is of no use, and has personal data in
        // clear.
        StateFiles.removeUnfinishedMove(settings.stateDirectory)
        if !store.isPresentSecretInUse { secrets.sealUnderPrevious() }
        if !store.hostsWithoutSecret.isEmpty {
            log.notice(
                "the previous secret stays in use until other hosts have the present one",
                metadata: ["hosts": "\(store.hostsWithoutSecret.joined(separator: ", "))"])
        }
        let shares = try await PostgresShares(of: store, clock: SystemClock())
        return OpenedStore(
            store: store, shares: shares, copier: NoCopier(), findings: { await Self.findings(about: store) },
            close: { try store.close() }, isPresentSecretInUse: store.isPresentSecretInUse,
            abandonSecretChange: { try await store.abandonSecretChange() })
    }

    private static func findings(about store: PostgresStore) async -> [Finding] {
        do {
            return try await store.durabilityGap().map { [Finding(.databaseAlone, $0)] } ?? []
        } catch {
            let message = "it cannot be told whether the database has a synchronous standby: \(error)"
            return [Finding(.databaseAlone, message, isCertain: false)]
        }
    }

    /// A random id of this state directory, made at the first start, which differs on each machine.
    func hostIdentity() throws -> [UInt8] {
        let path = "\(settings.stateDirectory)/host-identity"
        if let kept = try? DurableFile.read(path, maxBytes: 64) { return kept }
        let made = try SecureRandom.bytes(16)
        try DurableFile.write(made, to: path, replacing: false)
        return made
    }
    #endif
}

#if PostgreSQL
/// The copier of a store that is backed up with the database's own tools.
private struct NoCopier: StateCopier {
    let size: Int64 = 0

    func copy() async throws -> any AsyncSequence<[UInt8], any Error> & Sendable {
        throw CommandError(
            .invalidArgument,
            "the agent's state is in a PostgreSQL database: back that up with its own tools, such as pgBackRest or pg_dump "
                + "(docs/how-to/high-availability.md)"
        )
    }
}
#endif

/// Finds weaknesses of the host and of the store's place.
struct WholeInspector: HostInspector {
    let host: any HostInspector
    let ofStore: @Sendable () async -> [Finding]

    var descriptors: DescriptorFigures { host.descriptors }
    var freeDisk: Int64? { host.freeDisk }

    func findings() async -> [Finding] { await host.findings() + ofStore() }
}
