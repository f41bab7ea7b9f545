The file of the control socket: removed, replaced, or in a directory of somebody else's.

  $ needs_root
  $ sandbox
  $ agent
  $ second() {
  >   timeout 120 oob-agent --state-dir "$PWD/other" --socket "${1:-$OOB_AGENT_SOCKET}" "${@:2}" 2>&1 </dev/null | grep ^Error
  > }

An agent makes its socket anew when it is told to reload, and every ten seconds:

  $ remove_socket() { >agent.log && rm control.sock "$@"; }
  $ reload() { kill -HUP "$agent_pid"; }
  $ until_logged() { until_true grep --quiet "$1" agent.log; }

# A removed socket is made anew at a reload, and a call that waits is answered

  $ enroll --authn-type presence
  <id 1>
  Enrolled at http://localhost:<port> as localhost.
  $ oobctl approve --next --wait 60 --delivery-timeout 60 --json >approved </dev/null & approving=$!
  $ has_client() { (($(grep --count " $OOB_AGENT_SOCKET$" /proc/net/unix) >= 2)); }
  $ until_true has_client
  $ remove_socket
  $ reload
  $ until_logged 'the control socket was removed, and was made anew'
  $ stat --format '%F %a' control.sock
  socket 600
  $ oobctl status --json </dev/null | field .state
  ready
  $ acs="$(purchase)"
  $ wait "$approving"
  $ field .delivery <approved
  delivered

# A removed socket is made anew without a reload

  $ remove_socket control.sock.lock
  $ until_logged 'the control socket was removed, and was made anew'
  $ oobctl status --json </dev/null | field .state
  ready
  $ second
  Error: another process listens on the control socket <folder>/control.sock
  [69]

# A second agent does not get the place of a removed socket

  $ remove_socket
  $ second
  Error: another process listens on the control socket <folder>/control.sock
  [69]
  $ reload
  $ until_logged 'was made anew'
  $ oobctl status --json </dev/null | field .state
  ready

# The socket of another process is reported and not taken

The agent tells its service manager, the metrics and the log.

  $ stop_agent
  $ python3 -uc 'import socket
  > manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
  > manager.bind("notify")
  > while True:
  >     print(manager.recv(8192).decode())' >told & started+=($!)
  $ until_true test -S notify
  $ NOTIFY_SOCKET="$PWD/notify" WATCHDOG_USEC=2000000 agent --metrics-listen 127.0.0.1:0
  $ metrics="$(sed -n 's/.*metrics server listening address=//p' agent.log)"
  $ python3 -uc 'import os, signal, socket
  > other = socket.socket(socket.AF_UNIX)
  > other.bind("other.sock")
  > other.listen(64)
  > os.rename("other.sock", "control.sock")
  > print("listening")
  > signal.pause()' >other.out & other=$!
  $ until_true test -s other.out
  $ reload
  $ until_logged 'the control socket was removed or replaced, and nobody can connect'
  $ grep --only-matching 'another process listens on .*' agent.log | uniq
  another process listens on the control socket <folder>/control.sock"
  $ until_true grep --quiet '^STATUS=Degraded: the control socket was removed or replaced' told
  $ grep --only-matching --max-count 1 '^STATUS=Degraded.*' told
  STATUS=Degraded: the control socket was removed or replaced: another process listens on the control socket <folder>/control.sock
  $ inode="$(stat --format %i control.sock)"
  $ >agent.log
  $ reload
  $ until_logged 'the settings were reloaded'
  $ [[ "$(stat --format %i control.sock)" == "$inode" ]]
  $ curl --silent --max-time 20 "$metrics/metrics" |
  >   grep --extended-regexp '^oob_agent_(not_ready_reasons.*"socket"|ready )'
  oob_agent_ready 0
  oob_agent_not_ready_reasons{cause="socket"} 1

Once nobody listens there, the agent takes the place again.

  $ >agent.log
  $ kill "$other" && wait "$other"
  [143]
  $ reload
  $ until_logged 'was made anew'
  $ oobctl status --json </dev/null | jq --compact-output '[.state, .reasons]'
  ["ready",[]]
  $ stop_agent

# A socket that is removed during the start is made anew

  $ rm --force control.sock
  $ until rm control.sock 2>/dev/null; do :; done & remover=$!
  $ agent
  $ wait "$remover"
  $ until_true oobctl status
  $ oobctl status --json </dev/null | field .state
  ready

# A symbolic link in the socket's place is refused and what it leads to stays

  $ (umask 377 && >precious)
  $ for target in precious nothing; do
  >   ln --symbolic --force "$target" link.sock
  >   second "$PWD/link.sock" || echo "exit status $?"
  > done
  Error: the control socket <folder>/link.sock cannot be made: something that is not a socket stands there
  exit status 78
  Error: the control socket <folder>/link.sock cannot be made: something that is not a socket stands there
  exit status 78
  $ stat --format %a precious
  400

# Root makes no socket in a directory that others control

  $ for place in 40001:700 0:777 0:775; do
  >   mkdir "$place" && chmod "${place#*:}" "$place" && chown "${place%:*}" "$place"
  >   second "$PWD/$place/a.sock" || echo "exit status $?"
  >   second "$PWD/$place/a.sock" --check-config || echo "exit status $?"
  >   ls -A "$place"
  > done
  Error: the control socket <folder>/40001:700/a.sock cannot be made: its directory <folder>/40001:700/ belongs to uid 40001, and the agent runs as root: choose another one with socket, or run the agent as another user
  exit status 77
  Error: --socket: the control socket <folder>/40001:700/a.sock cannot be made: its directory <folder>/40001:700/ belongs to uid 40001, and the agent runs as root: choose another one with socket, or run the agent as another user
  exit status 78
  Error: the control socket <folder>/0:777/a.sock cannot be made: its directory <folder>/0:777/ can be written to by others (mode 0777), and the agent runs as root: choose another one with socket, or run the agent as another user
  exit status 77
  Error: --socket: the control socket <folder>/0:777/a.sock cannot be made: its directory <folder>/0:777/ can be written to by others (mode 0777), and the agent runs as root: choose another one with socket, or run the agent as another user
  exit status 78
  Error: the control socket <folder>/0:775/a.sock cannot be made: its directory <folder>/0:775/ can be written to by others (mode 0775), and the agent runs as root: choose another one with socket, or run the agent as another user
  exit status 77
  Error: --socket: the control socket <folder>/0:775/a.sock cannot be made: its directory <folder>/0:775/ can be written to by others (mode 0775), and the agent runs as root: choose another one with socket, or run the agent as another user
  exit status 78

# Another user may use a directory that others write to

  $ chmod 711 . && mkdir --mode 777 shared && chmod 777 shared && install --directory --owner 40001 --mode 700 theirs
  $ (cd / && exec setpriv --reuid 40001 --regid 40001 --clear-groups oob-agent --state-dir "$OLDPWD/theirs" \
  >   --socket "$OLDPWD/shared/a.sock") >theirs.out 2>theirs.log </dev/null & agent_pid=$!; started+=($!)
  $ until_true grep --quiet '^listening on ' theirs.out
  $ stat --format '%F %a %u' shared/a.sock
  socket 600 40001
  $ stop_agent
