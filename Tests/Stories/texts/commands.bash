# The functions that text scripts have besides the programs. Bash reads this file before each of them (BASH_ENV).
# shellcheck shell=bash

# Not again in the shells that a script's commands start.
unset BASH_ENV
PATH="$OOB_BIN_DIR:$PATH"
set -o pipefail
started=()

end_started() {
    if ((${#started[@]})); then
        kill "${started[@]}" 2>/dev/null
        wait "${started[@]}" 2>/dev/null
    fi
}
trap end_started EXIT

# Ends a script that this machine cannot run: skip REASON
skip() { echo "$*" >skipped && exit 80; }

# Runs a command again and again until it succeeds, for a minute at most; nothing depends on how long a pause is.
until_true() {
    local deadline=$((SECONDS + 60))
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS > deadline)); then
            echo "not within a minute: $*" >&2
            return 1
        fi
        sleep 0.05
    done
}

# Lets the script be skipped for another user than root; its first command.
needs_root() { ((UID == 0)) || skip 'it needs root'; }

# Prints a member of the JSON that is read, or what else jq is asked for: field .id
field() { jq --raw-output "$1"; }

# Starts a sandbox: sandbox [OPTIONS of oob-issuer serve]. ISSUER is its address then.
sandbox() {
    # Before it starts, as another sandbox has said there where it listens.
    : >sandbox.out
    oob-issuer serve --listen localhost:0 "$@" >sandbox.out 2>sandbox.log </dev/null &
    sandbox_pid=$!
    started+=("$sandbox_pid")
    until_true grep --quiet '^listening on ' sandbox.out || { cat sandbox.log && return 1; }
    ISSUER="$(sed -n 's/^listening on //p' sandbox.out)"
}

# Ends the sandbox and waits for that; its exit status is the function's.
stop_sandbox() {
    kill "$sandbox_pid"
    wait "$sandbox_pid"
}

# One command of the sandbox's: issuer purchase ..., issuer clock advance 1d
issuer() { oob-issuer "$@" --issuer "$ISSUER" </dev/null; }

# Calls the sandbox with a JSON body, and prints its answer: post purchases '{"expiresIn": 5}'
post() { curl --silent --show-error --header 'Content-Type: application/json' --data "$2" "$ISSUER/sandbox/$1"; }

# Starts the agent on the state directory `state`, with its log in agent.log: agent [OPTIONS of oob-agent].
agent() {
    export OOB_AGENT_SOCKET="$PWD/control.sock"
    oob-agent --state-dir "$PWD/state" --socket "$OOB_AGENT_SOCKET" "$@" >>agent.out 2>>agent.log </dev/null &
    agent_pid=$!
    started+=("$agent_pid")
    { until_true has_started && kill -0 "$agent_pid" 2>/dev/null; } || { cat agent.log && return 1; }
}

# Whether the agent answers, or has ended.
has_started() {
    local state
    kill -0 "$agent_pid" 2>/dev/null || return 0
    state="$(oobctl status --json </dev/null | field .state)" && [[ "$state" != starting ]]
}

# Ends the agent and waits for that; its exit status is the function's. One that a signal has ended says why in its log.
stop_agent() {
    local status=0
    kill "$agent_pid"
    wait "$agent_pid" || status=$?
    ((status < 128)) || tail --lines=20 agent.log
    return "$status"
}

# Kills the agent, as a power cut does, and waits for that.
kill_agent() {
    kill -KILL "$agent_pid"
    wait "$agent_pid" 2>/dev/null
    return 0
}

# Starts an agent on the directory `state` that must fail, and prints the last line that it writes. The exit status is
# the agent's: failing_start [COMMAND THAT STARTS IT...]
failing_start() {
    "$@" oob-agent --state-dir "$PWD/state" --socket "$PWD/failing.sock" </dev/null 2>&1 | tail --lines=1
}

# Whether the agent has a state, for until_true: agent_is degraded
agent_is() { [[ "$(oobctl status --json </dev/null | field .state)" == "$1" ]]; }

# Makes an enrollment code at the sandbox.
code() { issuer code --json | field .code; }

# Enrolls at the sandbox: enroll [OPTIONS of oobctl enroll].
enroll() { oobctl enroll --issuer "$ISSUER" --code "$(code)" "$@" </dev/null; }

# Starts a purchase of USD 1.00 at CoffeeHouse2, and prints its acsTransId: purchase [OPTIONS of oob-issuer purchase].
purchase() {
    issuer purchase --merchant CoffeeHouse2 --amount 100 --currency 840 --exponent 2 "$@"
}

# The same, until the agent has its request. A script takes the acsTransId: acs="$(requested)".
requested() {
    local acs
    acs="$(purchase "$@")" && until_true has_request "$acs" && echo "$acs"
}

has_request() {
    oobctl fetch </dev/null
    oobctl show "$1" </dev/null
}

# Approves, and gives the delivery the time that it may take on a busy machine: approve [OPTIONS of oobctl approve]
approve() { oobctl approve --delivery-timeout 60 "$@" </dev/null; }

# Prints what became of a purchase at the sandbox, such as authenticated: outcome ACSTRANSID
outcome() { issuer show "$1" --json | field .status; }

# Makes a file that only its owner may read, as secrets have to be: private NAME CONTENT
private() {
    (umask 077 && printf '%s' "$2" >"$1")
}

# Prints a command's output, and on one line its exit status and the first of its errors; for many commands that fail:
# result COMMAND...
result() {
    local said status=0
    { said="$("$@" 2>&1 >&3 </dev/null)" || status=$?; } 3>&1
    echo "[$status] ${said%%$'\n'*}"
}

# Prints the journal's entries of a kind: journal expired
journal() {
    oobctl audit export </dev/null | jq --compact-output --arg kind "$1" 'select(.entry == $kind)'
}
