Who may look and who may decide: callers that are other users of the host. They need no account: a number is enough.

  $ needs_root
  $ chmod 711 .
  $ ALICE=40001 BOB=40002 GROUP=40100 AUDITORS=40101
  $ as() {
  >   setpriv --reuid "$1" --regid "${REGID:-$1}" --groups "${2:-$1}" "${@:3}" </dev/null
  > }

The calls of the agent's description, each with the right that it takes:

  $ awk '/^  \// { path = $1; sub(/:$/, "", path); gsub(/{id}/, "none", path) }
  >   /^    (get|put|post|delete|patch):/ { method = toupper($1); sub(/:/, "", method) }
  >   /^      x-right:/ {
  >     print "next\nurl = \"http://agent" path "\"\nrequest = " method "\nwrite-out = \"" $2 " %{http_code}\\n\""
  >     print "silent\nmax-time = 20\nheader = \"Last-Event-ID: none\"\nunix-socket = control.sock"
  >   }' "$TESTDIR/../../../openapi/agent.yaml" | tail --lines +2 >calls
  $ grep --count ^url calls | sed 's/^[2-9][0-9]$/more than 20/'
  more than 20

What a user with these groups may do, and what is said of the calls that are refused:

  $ may() {
  >   as "$1" "${2:-}" curl --config calls >answers || return
  >   grep --text --extended-regexp --only-matching '("code":"access_denied".*)?(look|decide|own) [0-9]{3}$' answers |
  >     sed --regexp-extended 's/.*(user id [0-9]+ may[^"]*)".*[}](.*) 403$/\2: \1/; t
  >       s/ 403$/: not said why/; t
  >       s/ .*/: yes/' |
  >     sort --unique
  > }

# Without settings only root and the agent's user have access, and others are told why

  $ agent
  $ stat --format %a control.sock
  600
  $ may $ALICE
  [7]
  $ may 0
  decide: yes
  look: yes
  own: yes
  $ chmod 666 control.sock
  $ may $ALICE $GROUP
  decide: user id 40001 may not use this agent: its settings socket-group, may-look and may-decide say who may
  look: user id 40001 may not use this agent: its settings socket-group, may-look and may-decide say who may
  own: user id 40001 may not use this agent: its settings socket-group, may-look and may-decide say who may
  $ as $ALICE "" oobctl status
  Error: user id 40001 may not use this agent: its settings socket-group, may-look and may-decide say who may
  [1]
  $ grep --only-matching 'its user may not do it pid=[0-9]* uid=40001$' agent.log | sed 's/pid=[0-9]*/pid=<pid>/' | uniq
  its user may not do it pid=<pid> uid=40001
  $ stop_agent

# The socket's group may decide

A process has it as its own group, or as one of those besides.

  $ agent --socket-group $GROUP
  $ stat --format '%a %g' control.sock
  660 40100
  $ oobctl doctor --json </dev/null | grep socketOpen
  [1]
  $ may $ALICE $GROUP
  decide: yes
  look: yes
  own: user id 40001 may have no key: only root and the agent's own user may
  $ REGID=$GROUP may $ALICE
  decide: yes
  look: yes
  own: user id 40001 may have no key: only root and the agent's own user may
  $ may $ALICE "$(seq --separator , 41000 41199),$GROUP"
  decide: yes
  look: yes
  own: user id 40001 may have no key: only root and the agent's own user may
  $ may $ALICE
  [7]
  $ chmod 666 control.sock
  $ may $ALICE $AUDITORS
  decide: user id 40001 may not use this agent: its settings socket-group, may-look and may-decide say who may
  look: user id 40001 may not use this agent: its settings socket-group, may-look and may-decide say who may
  own: user id 40001 may not use this agent: its settings socket-group, may-look and may-decide say who may
  $ oobctl doctor --json </dev/null | grep --only-matching socketOpen
  socketOpen
  $ stop_agent

# The agent warns of a directory that the socket's group cannot pass

  $ for mode in 700:$GROUP 701:0 711:$GROUP 710:0; do
  >   chmod "${mode%:*}" . && >agent.log && agent --socket-group "${mode#*:}" && stop_agent
  >   echo "$mode: $(grep --only-matching 'socket.s group cannot get to it.*' agent.log)"
  > done
  700:40100: socket's group cannot get to it: let it through directory=<folder>/
  701:0: socket's group cannot get to it: let it through directory=<folder>/
  711:40100: 
  710:0: 
  $ chmod 711 .

# Lists say who of the group may look and who may decide

  $ agent --socket-group $GROUP --may-look "group:$AUDITORS" --may-decide "$ALICE, group:0"
  $ may $ALICE $GROUP
  decide: yes
  look: yes
  own: user id 40001 may have no key: only root and the agent's own user may
  $ may $BOB $GROUP,$AUDITORS
  decide: user id 40002 may look and not decide: the agent's settings socket-group and may-decide say who may
  look: yes
  own: user id 40002 may have no key: only root and the agent's own user may
  $ may $BOB $GROUP
  decide: user id 40002 may not use this agent: its settings socket-group, may-look and may-decide say who may
  look: user id 40002 may not use this agent: its settings socket-group, may-look and may-decide say who may
  own: user id 40002 may not use this agent: its settings socket-group, may-look and may-decide say who may
  $ as $BOB $GROUP,$AUDITORS oobctl deny --next --json
  {"error":{"code":70003,"message":"user id 40002 may look and not decide: the agent's settings socket-group and may-decide say who may","name":"authnAccessDenied"}}
  [1]
  $ stop_agent

# One list leaves the other to the group

  $ agent --socket-group $GROUP --may-decide $ALICE
  $ may $ALICE $GROUP
  decide: yes
  look: yes
  own: user id 40001 may have no key: only root and the agent's own user may
  $ may $BOB $GROUP
  decide: user id 40002 may look and not decide: the agent's settings socket-group and may-decide say who may
  look: yes
  own: user id 40002 may have no key: only root and the agent's own user may
  $ stop_agent
  $ agent --socket-group $GROUP --may-look $BOB
  $ chmod 666 control.sock
  $ may $ALICE $GROUP
  decide: yes
  look: yes
  own: user id 40001 may have no key: only root and the agent's own user may
  $ may $BOB
  decide: user id 40002 may look and not decide: the agent's settings socket-group and may-decide say who may
  look: yes
  own: user id 40002 may have no key: only root and the agent's own user may
  $ stop_agent

# Who looks leaves no trace of a decision, and who decides is in log and journal

  $ sandbox
  $ rm --recursive state
  $ >agent.log
  $ agent --socket-group $GROUP --may-decide $ALICE
  $ for user in $BOB $ALICE; do
  >   as $user $GROUP oobctl enroll --issuer "$ISSUER" --code "$(code)" --name kitchen --authn-type presence
  > done
  Error: user id 40002 may look and not decide: the agent's settings socket-group and may-decide say who may
  <id 1>
  Enrolled at http://localhost:<port> as kitchen.
  $ acs="$(requested)"
  $ as $BOB $GROUP oobctl approve "$acs"
  Error: user id 40002 may look and not decide: the agent's settings socket-group and may-decide say who may
  [1]
  $ as $ALICE $GROUP oobctl approve "$acs" --delivery-timeout 60
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ as $ALICE $GROUP oobctl unenroll kitchen --local
  Unenrolled kitchen.
  $ oobctl backup "$PWD/copy.db" </dev/null
  Wrote 221184 bytes to <folder>/copy.db. The agent's secret is not in it: keep that elsewhere.
  $ oobctl audit export </dev/null | jq --compact-output 'select(.uid) | [.entry, .command, .uid, .gid, .process]'
  ["commanded","enroll",40001,40001,"oobctl"]
  ["decided",null,40001,40001,"oobctl"]
  ["commanded","unenroll",40001,40001,"oobctl"]
  ["commanded","backup",0,0,"oobctl"]
  $ oobctl audit verify </dev/null | grep --only-matching 'entries are as they were written'
  entries are as they were written
  $ grep --only-matching --extended-regexp '(commanded|decided) .*gid=.*' agent.log | sed 's/pid=[0-9]*/pid=<pid>/'
  commanded command=enroll gid=40001 pid=<pid> process=oobctl uid=40001
  decided decision=approve gid=40001 pid=<pid> process=oobctl request=<id 2> uid=40001
  commanded command=unenroll gid=40001 pid=<pid> process=oobctl uid=40001
  commanded command=backup gid=0 pid=<pid> process=oobctl uid=0
  $ stop_agent

# A name that nobody has is named with its line

  $ check() {
  >   printf "$1" >agent.yaml
  >   oob-agent --check-config --config "$PWD/agent.yaml" --state-dir "$PWD/state" </dev/null
  > }
  $ check 'log-level: info\nsocket-group: nosuchgroup\n'
  Error: <folder>/agent.yaml:2: socket-group: there is no group "nosuchgroup" on this host
  [78]
  $ check "socket-group: '0'\nmay-look: root, nosuchuser\n"
  Error: <folder>/agent.yaml:2: may-look: there is no user "nosuchuser" on this host
  [78]
  $ check "socket-group: '0'\nmay-decide: group:nobodys\n"
  Error: <folder>/agent.yaml:2: may-decide: there is no group "nobodys" on this host
  [78]

# An invalid list is refused with what is allowed

  $ for list in root,,root "''" root,; do check "socket-group: '0'\nmay-look: $list\n" || echo "exit status $?"; done
  Error: <folder>/agent.yaml:2: may-look: must be users and groups, such as "alice, group:auditors"
  exit status 78
  Error: <folder>/agent.yaml:2: may-look: must be users and groups, such as "alice, group:auditors"
  exit status 78
  Error: <folder>/agent.yaml:2: may-look: must be users and groups, such as "alice, group:auditors"
  exit status 78
  $ check "socket-group: '0'\nmay-look: $(seq --separator , 65)\n"
  Error: <folder>/agent.yaml:2: may-look: has more than 64 names: put these users into a group and name that
  [78]

# A list without a group is refused as it would reach nobody

  $ check 'may-decide: root\n'
  Error: <folder>/agent.yaml:1: may-decide: goes with socket-group: without it nobody else can use the socket
  [78]

# An agent cannot give its socket to a group that it is not of

  $ unset OOB_AGENT_SOCKET
  $ install --directory --owner 65534 theirs
  $ as 65534 "" oob-agent --check-config --socket-group $GROUP --state-dir "$PWD/theirs"
  Error: --socket-group: the agent's user is not of this group: add it, or name one of its groups
  [64]
  $ as 65534 $GROUP oob-agent --check-config --socket-group $GROUP --state-dir "$PWD/theirs"
  # No config file was named.
  state-dir: <folder>/theirs  # --state-dir
  socket-group: 40100  # --socket-group
  # Each other setting has its default (--print-config).
