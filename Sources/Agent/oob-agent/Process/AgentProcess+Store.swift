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

/// The agent's store, wherever it is.
struct OpenedStore {
    let store: any Store
    /// What of the work is this host's; nil if it has the store to itself.
    let shares: (any WorkShares)?
    let copier: any StateCopier
    /// Where the agent's tasks run, if what they read and write is then at hand; nil if it is elsewhere.
    var threads: OwnThreads?
    /// What is weak about where the store is.
    var findings: @Sendable () async -> [Finding] = { [] }
    /// Lets go of what it keeps in memory of what is stored, soon after it returns.
    var releaseMemory: @Sendable () -> Void = {}
    let close: @Sendable () throws -> Void
    /// Whether all is sealed under the present secret; else another host does not have it yet.
    var isPresentSecretInUse = true
    /// After a change of the secret that has changed nothing.
    var abandonSecretChange: @Sendable () async throws -> Void = {}

    /// Runs what uses the store.
    func run(_ body: () async throws -> Void) async throws {
        guard let threads else { return try await body() }
        try await WorkThreads.$preferred.withValue(threads.executor) { try await threads.run(body) }
    }
}

extension AgentProcess {
    /// Opens the store that the settings name.
    ///
    /// - Parameters:
    ///   - secrets: what seals, unless another host lacks the present one.
    ///   - mayChangeSecret: whether all is to be brought under the present one, if the previous one is there.
    ///   - isSecretNew: whether the secret was made now, and no file has it yet unless the state is here.
    ///   - clock: what the time of a copy is told by.
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
        // Whatever was being moved away is still here, and the copy has personal data in clear.
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

    /// What tells this state directory from another machine's, made at the first start.
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
/// For a store that is copied with its database's own means.
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

/// What is weak about the host, and about where the store is.
struct WholeInspector: HostInspector {
    let host: any HostInspector
    let ofStore: @Sendable () async -> [Finding]

    var descriptors: DescriptorFigures { host.descriptors }
    var freeDisk: Int64? { host.freeDisk }

    func findings() async -> [Finding] { await host.findings() + ofStore() }
}
