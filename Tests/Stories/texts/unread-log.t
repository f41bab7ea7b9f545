Output that nobody reads costs log lines, and neither answers nor the ability to stop.

A pipe without room, on descriptor 7, and what comes out of it up to a line with some words:

  $ fill_pipe() {
  >   rm --force pipe && mkfifo pipe && exec 7<>pipe
  >   ! yes 2>/dev/null | dd of=pipe bs=4096 iflag=fullblock oflag=nonblock 2>/dev/null
  > }
  $ read_until() {
  >   local line
  >   while IFS= read -r -t 60 -u 7 line && echo "$line" && [[ "$line" != *"$1"* ]]; do :; done
  > }

An agent that has to enroll and to approve:

  $ sandbox
  $ export OOB_AGENT_SOCKET="$PWD/control.sock"
  $ start() {
  >   rm --recursive --force state
  >   ${through:-} oob-agent --state-dir "$PWD/state" --socket "$OOB_AGENT_SOCKET" "$@" </dev/null & agent_pid=$!
  >   started+=("$agent_pid")
  >   until_true has_started
  > }
  $ work() {
  >   enroll --authn-type test >enrolled 2>&1
  >   for _ in 1 2 3; do
  >     oobctl approve "$(requested)" --delivery-timeout 60 --json </dev/null | field .delivery
  >   done
  > }

# An agent works and stops with a log that nobody reads

  $ fill_pipe
  $ start >agent.out 2>&7
  $ work
  delivered
  delivered
  delivered
  $ stop_agent

# An agent works and stops with a standard output that nobody reads

  $ fill_pipe
  $ start >&7 2>agent.log
  $ work
  delivered
  delivered
  delivered
  $ stop_agent

# An agent works and stops with its log on a terminal that is stopped

As Ctrl-S does; the agent itself holds the terminal's other end open.

  $ cat >stopped_terminal.py <<'END'
  > import os, pty, sys, termios
  > terminal, own = pty.openpty()
  > termios.tcflow(own, termios.TCOOFF)
  > os.set_inheritable(terminal, True)
  > os.dup2(own, 2)
  > os.execvp(sys.argv[1], sys.argv[1:])
  > END
  $ through='python3 stopped_terminal.py' start >agent.out
  $ work
  delivered
  delivered
  delivered
  $ stop_agent

# A reader that comes late gets the lines of the agent's log that waited

The second time another process has made the pipe non-blocking.

  $ for blocking in True False; do
  >   fill_pipe
  >   python3 -c "import os; os.set_blocking(7, $blocking)"
  >   start >agent.out 2>&7
  >   work
  >   for _ in 1 2 3; do read_until ' decision delivery ended '; done 2>&1 | grep --text --only-matching \
  >     'request presented\|decided decision=approve\|decision delivery ended'
  >   stop_agent
  >   read_until ' stopped' | grep --only-matching ' stopped$'
  > done
  delivered
  delivered
  delivered
  request presented
  decided decision=approve
  decision delivery ended
  request presented
  decided decision=approve
  decision delivery ended
  request presented
  decided decision=approve
  decision delivery ended
   stopped
  delivered
  delivered
  delivered
  request presented
  decided decision=approve
  decision delivery ended
  request presented
  decided decision=approve
  decision delivery ended
  request presented
  decided decision=approve
  decision delivery ended
   stopped

# An error at the start ends an agent though nobody reads what it was

  $ touch file
  $ fill_pipe
  $ oob-agent --state-dir "$PWD/file/state" >/dev/null 2>&7 </dev/null
  [77]

# The sandbox answers and stops with a log that nobody reads

Each call is a line of its log, of which a reader that comes late gets all.

  $ fill_pipe
  $ oob-issuer serve --listen localhost:0 --faults slow=1:1ms,path=jwks,seed=1 >faulty.out 2>&7 </dev/null & faulty=$!
  $ until_true grep --quiet '^listening on' faulty.out
  $ ask() { curl --silent --output /dev/null --write-out '%{http_code}\n' "$1/jwks.json"; }
  $ for _ in {1..50}; do ask "$(sed -n 's/^listening on //p' faulty.out)"; done | uniq --count
       50 200
  $ read_until 'call="jwks 50"' | grep --text --count ' a fault on purpose '
  50
  $ kill "$faulty" && wait "$faulty"

# The sandbox answers and stops with a standard output that nobody reads

  $ fill_pipe
  $ oob-issuer serve --listen 127.0.0.1:0 >&7 2>faulty.log </dev/null & faulty=$!
  $ listening() {
  >   ss --no-header --listening --tcp --numeric --processes | grep "pid=$faulty," | awk '{ print $4 }'
  > }
  $ until_true listening
  $ ask "http://$(listening)"
  200
  $ kill "$faulty" && wait "$faulty"

# An agent whose standard error is closed at the other end starts, works and stops

Descriptor 8 is a pipe whose reader has ended.

  $ exec 8> >(:)
  $ wait $!
  $ start >agent.out 2>&8
  $ work
  delivered
  delivered
  delivered
  $ stop_agent

# The servers start and stop with a standard error that is closed at the other end

  $ for server in 'oob-issuer serve' oob-inbox; do
  >   rm --force server.out
  >   $server --listen localhost:0 >server.out 2>&8 </dev/null & server_pid=$!
  >   until_true grep --quiet http:// server.out
  >   kill "$server_pid" && wait "$server_pid"; echo "$server ends with $?"
  > done
  oob-issuer serve ends with 0
  oob-inbox ends with 0

# An early error has its exit status though nobody can read its sentence

  $ status() { "$@" >/dev/null 2>&8 </dev/null; echo "$? $*"; }
  $ status oob-agent --state-dir file/inside
  77 oob-agent --state-dir file/inside
  $ status oob-agent --config file/inside
  78 oob-agent --config file/inside
  $ status oob-agent --no-such-flag
  64 oob-agent --no-such-flag
  $ status oobctl status --socket file/inside
  69 oobctl status --socket file/inside
  $ status oobctl no-such-verb
  64 oobctl no-such-verb
  $ status oob-inbox --listen 192.0.2.1:80
  64 oob-inbox --listen 192.0.2.1:80
  $ status oob-issuer serve --listen nowhere
  64 oob-issuer serve --listen nowhere
  $ status oob-issuer list --issuer http://localhost:1
  69 oob-issuer list --issuer http://localhost:1
  $ status oob-conform approver --cases file/inside
  2 oob-conform approver --cases file/inside
  $ status oob-conform check-request file/inside
  66 oob-conform check-request file/inside

# A standard output without a reader is an error and no death

  $ oob-agent --print-config >&8 2>/dev/null </dev/null
  [74]
  $ oob-conform issuer --list --cases "$TESTDIR/../../../conformance/cases" >&8 2>/dev/null </dev/null
  [1]

# What a program starts does not ignore SIGPIPE

Of the signals that the browser ignores, SIGPIPE is the bit 1000.

  $ cat >xdg-open <<'END'
  > #!/bin/sh
  > sed -n 's/^SigIgn:\t*//p' /proc/self/status >seen.part && mv seen.part seen
  > END
  $ chmod +x xdg-open
  $ PATH="$PWD:$PATH" XDG_RUNTIME_DIR="$PWD" oob-inbox --listen localhost:0 --open \
  >   >inbox.out 2>inbox.log </dev/null & inbox=$!
  $ until_true test -s seen
  $ printf '%x\n' "$((16#$(cat seen) & 16#1000))"
  0
  $ kill "$inbox" && wait "$inbox"
