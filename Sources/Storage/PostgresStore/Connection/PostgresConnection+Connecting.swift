#if PostgreSQL
import CPostgres

extension PostgresConnection {
    /// Connects to the first server of a URL that accepts writes.
    ///
    /// No environment variable for a libpq keyword has an effect, because ``ConnectionKeywords`` overrides or refuses
    /// each. libpq reads no file except those that the URL names. The system resolves host names, which takes as long
    /// as resolv.conf allows.
    ///
    /// - Throws: the errors of all servers, with the SQLSTATE of the last one.
    package static func connect(
        to url: PostgresURL, password: PostgresPassword? = nil, limits: PostgresLimits = PostgresLimits()
    ) throws(PostgresError) -> PostgresConnection {
        var problems: [PostgresError] = []
        var messages: [String] = []
        for server in url.servers {
            let keywords = ConnectionKeywords(server, of: url, password, limits)
            let deadline = Deadline(in: limits.connecting / url.servers.count)
            do throws(PostgresError) {
                try keywords.checkEnvironment()
                do throws(PostgresError) {
                    let pointer = unsafe try established(keywords, deadline)
                    return unsafe try PostgresConnection(takingOwnershipOf: pointer, limits, isPooled: false)
                } catch  where error.isOfPooler {
                    let pointer = unsafe try established(keywords.withoutOptions, deadline)
                    return unsafe try PostgresConnection(takingOwnershipOf: pointer, limits, isPooled: true)
                }
            } catch {
                problems.append(error)
                messages.append(url.servers.count == 1 ? error.message : "\(keywords.place): \(error.message)")
            }
        }
        throw PostgresError(
            state: problems.last?.state, message: messages.joined(separator: "; "), isConnectionLost: true)
    }

    private static func established(
        _ keywords: ConnectionKeywords, _ deadline: Deadline
    ) throws(PostgresError) -> OpaquePointer {
        let pairs = keywords.values.sorted { $0.key < $1.key }
        let started = unsafe CArrays.withStrings(pairs.map(\.key)) { names in
            unsafe CArrays.withStrings(pairs.map(\.value)) { values in
                // 0: the database's name must not be parsed as a URL or a list of keywords.
                unsafe PQconnectStartParams(names, values, 0)
            }
        }
        guard let pointer = unsafe started else { throw PostgresError(message: "there is no memory for a connection") }
        do throws(PostgresError) {
            unsafe try poll(pointer, deadline)
        } catch {
            unsafe PQfinish(pointer)
            throw error
        }
        return unsafe pointer
    }

    private static func poll(_ pointer: OpaquePointer, _ deadline: Deadline) throws(PostgresError) {
        // The default receiver prints notices to standard error.
        unsafe PQsetNoticeReceiver(pointer, { _, _ in }, nil)
        // Only the verbose message contains the SQLSTATE of a failed connection attempt.
        unsafe PQsetErrorVerbosity(pointer, PQERRORS_VERBOSE)
        guard unsafe PQstatus(pointer) != CONNECTION_BAD else { throw unsafe failure(pointer) }
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            guard state != PGRES_POLLING_FAILED else { throw unsafe failure(pointer) }
            let isReading = state == PGRES_POLLING_READING
            // Each step may replace the socket.
            guard unsafe deadline.wait(for: PQsocket(pointer), toRead: isReading, toWrite: !isReading) else {
                throw PostgresError(message: "the server did not answer in time", isConnectionLost: true)
            }
            state = unsafe PQconnectPoll(pointer)
        }
        unsafe PQsetErrorVerbosity(pointer, PQERRORS_DEFAULT)
    }

    private static func failure(_ pointer: OpaquePointer) -> PostgresError {
        let text = unsafe PQerrorMessage(pointer).map { unsafe String(cString: $0) } ?? ""
        let (state, message) = connectingError(text)
        return PostgresError(state: state, message: message, isConnectionLost: true)
    }

    /// Parses libpq's message about a server that refuses a connection.
    ///
    /// For example `… FATAL:  28P01: password authentication failed for user "a"`, and further lines. If no line has a
    /// SQLSTATE, returns the text as one line.
    static func connectingError(_ text: String) -> (state: String?, message: String) {
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        for line in lines {
            let parts = line.split(separator: ": ", omittingEmptySubsequences: false)
            let isState = { (word: Substring) in
                word.utf8.count == 5
                    && word.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
            }
            // Two spaces follow the colon after the severity.
            guard let place = parts.firstIndex(where: { $0.first == " " && isState($0.dropFirst()) }),
                parts.index(after: place) < parts.endIndex
            else { continue }
            return (String(parts[place].dropFirst()), parts[parts.index(after: place)...].joined(separator: ": "))
        }
        return (nil, lines.isEmpty ? "no reason" : lines.joined(separator: "; "))
    }
}
#endif
