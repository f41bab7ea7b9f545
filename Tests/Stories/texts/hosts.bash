# The functions of text scripts about hosts that share a PostgreSQL database: source "$TESTDIR/hosts.bash"
# shellcheck shell=bash

POSTGRES=/usr/lib/postgresql/15/bin
TOP="$PWD"
declare -A pids

# Starts a server on a Unix socket in the directory `server`, and makes the hosts' secret.
server() {
    [[ -x "$POSTGRES/postgres" ]] || skip 'there is no PostgreSQL 15 here: Scripts/bootstrap --tests installs it'
    if oob-agent --state-dir "$TOP/none" --database x --host-name a --check-config 2>&1 |
        grep --quiet 'built without PostgreSQL'; then
        skip 'oob-agent was built without the package trait PostgreSQL'
    fi
    chmod 711 . && mkdir server
    local user=()
    # The server refuses to run as root.
    if ((UID == 0)); then
        user=(setpriv --reuid=postgres --regid=postgres --clear-groups)
        chown postgres:postgres server
    fi
    cd server || return 1
    "${user[@]}" "$POSTGRES/initdb" -D data -U oob -A trust --no-sync -E UTF8 --locale=C >../initdb.log </dev/null
    "${user[@]}" "$POSTGRES/postgres" -D data -c listen_addresses= -c unix_socket_directories="$PWD" \
        -c max_connections=100 >../server.log 2>&1 </dev/null &
    started+=("$!")
    cd ..
    until_true "$POSTGRES/pg_isready" --quiet --host="$TOP/server" --username=oob --dbname=postgres
    openssl rand -out secret 32 && chmod 600 secret
}

# Goes into a new directory, and makes a database of that name; URL is how an agent reaches it: place NAME
place() {
    cd "$TOP" && mkdir "$1" && cd "$1" || return 1
    database "$1"
}

# Makes a database: database NAME
database() {
    DATABASE="$1"
    URL="postgres://oob@/$1?host=$TOP/server"
    "$POSTGRES/createdb" --host="$TOP/server" --username=oob --template=template0 "$1"
}

# Prints what a statement gives in that database.
sql() {
    "$POSTGRES/psql" --no-psqlrc --quiet --tuples-only --no-align --host="$TOP/server" --username=oob \
        --dbname="$DATABASE" --set=ON_ERROR_STOP=1 --command="$1"
}

# Starts an agent on the SQLite file in a directory of this place: single NAME
single() {
    mkdir -p "$1" && cd "$1" || return 1
    agent --secret-file "$TOP/secret" "${@:2}"
    local status=$?
    # shellcheck disable=SC2154 # the function agent sets it
    pids[$1]="$agent_pid"
    cd ..
    return "$status"
}

# Starts the agent of a host on the database, in a directory of the host's name: host NAME
host() { single "$1" --database "$URL" --host-name "$1"; }

# Ends agents and waits for that: stop NAME...
stop() {
    local name
    for name in "$@"; do
        kill "${pids[$name]}" && wait "${pids[$name]}"
    done
}

# Runs oobctl at an agent: at NAME COMMAND...
at() { OOB_AGENT_SOCKET="$PWD/$1/control.sock" oobctl "${@:2}" </dev/null; }

# Enrolls at the sandbox: enroll_at NAME [OPTIONS of oobctl enroll]
enroll_at() { at "$1" enroll --issuer "$ISSUER" --code "$(code)" "${@:2}" --json | field .id; }

# Makes a purchase, approves it at an agent once it shows it, and prints what came of it: approves NAME
approves() {
    local acs
    acs="$(purchase)" && until_true at "$1" show "$acs" &&
        at "$1" approve "$acs" --delivery-timeout 60 --json | field .state
}

# Whether the journal is as it was written, as an agent says: verifies NAME
verifies() { at "$1" audit verify >verified.txt; }

# Runs oob-agent on the state directory of an agent that is to be moved, or must not start, and prints what came of it.
# The exit status is the agent's: move NAME OPTIONS...
move() {
    oob-agent --state-dir "$PWD/$1/state" --secret-file "$TOP/secret" "${@:2}" </dev/null 2>&1 |
        grep -e '^Moved' -e '^Error'
}
