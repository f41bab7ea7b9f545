#!/usr/bin/env bash
# A payment that is approved out of band, from nothing: starts a sandbox issuer and the agent, enrolls, buys something,
# approves it if it is what was bought, and prints the return URL. OOB_BIN_DIR names the programs' directory; without it
# they are looked for on PATH.
set -euo pipefail
PATH="${OOB_BIN_DIR:+$OOB_BIN_DIR:}$PATH"

dir="$(mktemp --directory --tmpdir oob-XXXXXX)"
pids=()
outputs=()
finish() {
    local status=$?
    trap - EXIT
    [[ ${#pids[@]} -eq 0 ]] || kill "${pids[@]}" 2>/dev/null || true
    # The end of a program's output is the end of the program.
    for output in "${outputs[@]}"; do cat <&"$output" >/dev/null; done
    [[ $status -eq 0 ]] || tail --lines 20 "$dir"/*.log >&2 || true
    rm -rf "$dir"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

export OOB_AGENT_SOCKET="$dir/control.sock"
exec {issuer_says}< <(exec oob-issuer serve --listen localhost:0 2>"$dir/issuer.log")
pids+=($!) outputs+=("$issuer_says")
exec {agent_says}< <(exec oob-agent --state-dir "$dir/state" --socket "$OOB_AGENT_SOCKET" 2>"$dir/agent.log")
pids+=($!) outputs+=("$agent_says")
# Each says `listening on ADDRESS` once it is ready: that is waited for, not asked again and again.
read -rt 60 _ _ issuer <&"$issuer_says"
read -rt 60 _ <&"$agent_says"

link="$(oob-issuer code --issuer "$issuer" | grep -o 'oob-enroll:[^[:space:]]*')"
oobctl enroll "$link" --yes --authn-type presence >"$dir/enrollment"
acs_trans_id="$(oob-issuer purchase --issuer "$issuer" --amount 100 --currency 840 --exponent 2 \
    --merchant CoffeeHouse2 --app-url "https://merchant.example/return?transID=1")"

oobctl approve "$acs_trans_id" --wait 30 --expect-amount "USD 1.00" --expect-merchant CoffeeHouse2
