Another user of the machine, whom a mode lets at the control socket.

  $ ((UID == 0)) || skip 'only root can be another user'
  $ agent
  $ chmod 755 . && chmod 777 control.sock
  $ requests() { curl --silent --unix-socket control.sock --header 'Connection: close' "http://agent/v1/requests?$1"; }
  $ other-user() {
  >     export -f requests
  >     setpriv --reuid=65534 --regid=65534 --clear-groups bash -c 'requests "$1"' bash "$1"
  > }

# The agent serves no other user though the mode of its socket was widened

  $ requests
  [] (no-eol)
  $ other-user
  {"code":"access_denied","d1Code":70003,"d1Name":"authnAccessDenied","detail":"user id 65534 may not use this agent: its settings socket-group, may-look and may-decide say who may","status":403,"title":"Access denied","type":"about:blank"} (no-eol)

It goes on serving its own user, whoever else connects, and logs at most one line a minute.

  $ other-user '[1-300]' | jq --raw-output .code | sort | uniq --count
      300 access_denied
  $ requests
  [] (no-eol)
  $ grep --count 'its user may not do it' agent.log
  [1-3] (re)
