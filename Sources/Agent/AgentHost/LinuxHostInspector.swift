import FoundationEssentials
import Keys
import LinuxProcess
package import Records

/// Checks the security of this process, its files and its host, at each call.
package struct LinuxHostInspector: HostInspector {
    private let stateDirectory: String
    private let socketPath: String
    /// Whether a group may use the socket as well.
    private let isSocketShared: Bool
    /// The secret's file, or `nil` if the agent made its secret, in the state directory.
    private let secretFile: String?
    /// Whether systemd passes the secret as a credential.
    private let isSecretCredential: Bool
    /// Whether mlock(2) of the secrets' memory succeeded.
    private let isMemoryLocked: Bool
    private let suffixFile: PublicSuffixFile

    package init(
        stateDirectory: String, socketPath: String, isSocketShared: Bool, secretFile: String?,
        isSecretCredential: Bool, isMemoryLocked: Bool, suffixes: PublicSuffixFile
    ) {
        self.stateDirectory = stateDirectory
        self.socketPath = socketPath
        self.isSocketShared = isSocketShared
        self.secretFile = secretFile
        self.isSecretCredential = isSecretCredential
        self.isMemoryLocked = isMemoryLocked
        suffixFile = suffixes
    }

    package var descriptors: DescriptorFigures {
        DescriptorFigures(refused: Descriptors.refusals.count, shortage: Descriptors.shortage())
    }

    package var freeDisk: Int64? { try? DiskRoom(of: stateDirectory).free }

    package func findings() async -> [Finding] {
        [disk, secret, memory, state, socket, debugger, coreDumps, clock, swap, suffixes].compactMap(\.self)
    }

    private var secret: Finding? {
        guard let path = secretFile, !isInStateDirectory(path) else {
            return Finding(
                .secretBesideKeys,
                "the agent's secret is in the state directory \(stateDirectory): a copy of that has keys and secret"
            )
        }
        guard !isSecretCredential else { return nil }
        return Finding(.secretInFile, "the agent's secret is in the file \(path), in clear")
    }

    /// Follows symbolic links.
    private func isInStateDirectory(_ path: String) -> Bool {
        let (file, directory) = (URL(filePath: path), URL(filePath: stateDirectory))
        return file.resolvingSymlinksInPath().path.hasPrefix(directory.resolvingSymlinksInPath().path + "/")
    }

    private var memory: Finding? {
        guard !isMemoryLocked else { return nil }
        return Finding(
            .memoryNotLocked,
            "the memory of secrets could not be locked and may be swapped: raise RLIMIT_MEMLOCK")
    }

    private var suffixes: Finding? {
        suffixFile.problem.map { trouble in
            Finding(
                .suffixListMissing,
                "an issuer may enroll for a public suffix such as co.uk, as the list of these cannot be used: \(trouble); "
                    + "install the package publicsuffix, or reinstall it")
        }
    }

    private var state: Finding? {
        asked(.stateReadable, whether: "others may look into the state directory") { () throws(UnknownFactError) in
            let open = try OpenFile.inDirectory(stateDirectory)
            guard !open.isEmpty else { return nil }
            let named = open.prefix(5).map(\.description).joined(separator: ", ")
            let more = open.count > 5 ? ", and \(open.count - 5) more" : ""
            return "others may look into the state directory: \(named)\(more)"
        }
    }

    private var disk: Finding? {
        asked(.diskLow, whether: "the disk of the state directory is nearly full") { () throws(UnknownFactError) in
            let room = try DiskRoom(of: stateDirectory)
            guard room.isLow else { return nil }
            return "the disk of the state directory \(stateDirectory) has \(room.free) bytes left of \(room.total): "
                + "nothing is decided once it is full"
        }
    }

    private var socket: Finding? {
        asked(.socketOpen, whether: "others may connect to the control socket") { () throws(UnknownFactError) in
            guard let open = try OpenFile.at(socketPath), !(isSocketShared && open.mode & 0o007 == 0) else {
                return nil
            }
            return "others than the agent's user may connect to the control socket \(open)"
        }
    }

    private var debugger: Finding? {
        asked(.debuggerAttached, whether: "a debugger is attached") { () throws(UnknownFactError) in
            try ProcessExposure.tracer().map { "process \($0) traces the agent, and can read all of its memory" }
        }
    }

    private var coreDumps: Finding? {
        asked(.coreDumps, whether: "the agent may leave a core dump") { () throws(UnknownFactError) in
            try ProcessExposure.isDumpable()
                ? "the agent may leave a core dump, and processes of its user may read its memory" : nil
        }
    }

    private var clock: Finding? {
        asked(.clockUnsynchronised, whether: "the clock is synchronised") { () throws(UnknownFactError) in
            try KernelClock.isSynchronised() ? nil : "the clock is not synchronised (no NTP)"
        }
    }

    private var swap: Finding? {
        guard !ControlGroup.neverSwaps() else { return nil }
        let question = "memory is swapped to a disk in clear"
        return asked(.swapUnencrypted, whether: question) { () throws(UnknownFactError) in
            let areas = try Swap.inClear()
            return areas.isEmpty ? nil : "memory may be swapped in clear to \(areas.joined(separator: ", "))"
        }
    }

    /// Runs one check; a check that cannot be made is a finding of its own.
    private func asked(
        _ weakness: Weakness, whether question: String, _ look: () throws(UnknownFactError) -> String?
    ) -> Finding? {
        do throws(UnknownFactError) {
            return try look().map { Finding(weakness, $0) }
        } catch {
            return Finding(weakness, "it cannot be told whether \(question): \(error)", isCertain: false)
        }
    }
}
