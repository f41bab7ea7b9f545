What `oobctl` says if something else than its agent listens on the control socket, or an agent of another version. At a
terminal, and for other users: test_control_client.py. Here each connection gets what the commands in `answer` print.

  $ export OOB_AGENT_SOCKET="$PWD/agent.sock"
  $ systemd-socket-activate --listen="$OOB_AGENT_SOCKET" --accept --inetd bash -c \
  >   'dd bs=65536 count=1 status=none >/dev/null; . ./answer' 2>listener.log &
  $ started+=("$!")
  $ until_true test -S agent.sock

`reply` waits until the client hangs up, `cut_at` hangs up after so many bytes.

  $ reply() { cat >reply; echo 'cat reply; cat >/dev/null' >answer; }
  $ cut_at() { head --bytes="$1" >reply; echo 'cat reply' >answer; }
  $ http() {
  >   cat >body
  >   printf 'HTTP/1.1 %s Reason\r\nContent-Type: %s\r\nServer: %s\r\nContent-Length: %s\r\n\r\n' \
  >     "${1:-200}" "${2:-application/json}" "${3:-oob-agent/9.9.9}" "$(wc --bytes <body)"
  >   cat body
  > }
  $ stream='HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n'
  $ event() {
  >   printf 'id: %s\ndata: {"event": "moonrise", "seq": %s, "at": "2023-10-17T05:56:41Z"%s}\n\n' "$1" "$1" "$2"
  > }
  $ status='{"version": "9.9.9", "personas": false, "state": "ready", "reasons": [], "enrollments": [], "pending": 0,
  >   "queued": 0, "warnings": []}'
  $ request='{"id": "89abcdef0123456789ab", "jti": "b1c6", "acsTransId": "2f37539c-d82e-4929-88db-2f9e72c7fa62",
  >   "enrollmentId": "0123456789abcdef0123", "issuer": "https://issuer.example", "warnings": [], "state": "pending",
  >   "delivery": "none", "receivedAt": "2023-10-17T05:56:39Z"}'
  $ problem='{"type": "about:blank", "title": "Moon phase", "status": 409, "detail": "the moon is new",
  >   "code": "moon_phase", "d1Code": 79999, "d1Name": "moon", "later": true}'

# Another HTTP server is not an agent

  $ echo '<html>' | http 200 text/html | reply && oobctl status
  Error: What listens on the socket did not answer as an oob-agent does (HTTP status 200).
  [69]
  $ echo no | http 404 text/plain | reply && oobctl status
  Error: What listens on the socket did not answer as an oob-agent does (HTTP status 404).
  [69]
  $ printf 'HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n' | reply && oobctl status
  Error: What listens on the socket did not answer as an oob-agent does (HTTP status 301).
  [69]

# A server that speaks no HTTP is not an agent

  $ printf 'SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n' | reply && oobctl status
  Error: What listens on the socket <folder>/agent.sock does not answer in HTTP: it is no oob-agent.
  [69]
  $ printf '\x16\x03\x01\x02\0'"$(printf '\\x%02x' {0..255})" | reply && oobctl status
  Error: What listens on the socket <folder>/agent.sock does not answer in HTTP: it is no oob-agent.
  [69]

# Headers and bodies without end are given up, and take little memory

  $ with_little_memory() { (if [[ "$OOB_BIN_DIR" != *sanitize* ]]; then ulimit -d 524288; fi && "$@"); }
  $ filler="$(printf 'y%.0s' {1..1000})"
  $ echo "printf 'HTTP/1.1 200 OK\r\n'; yes $'X-Filler: $filler\r'" >answer
  $ with_little_memory oobctl status
  Error: What listens on the socket <folder>/agent.sock does not answer in HTTP: it is no oob-agent.
  [69]
  $ echo "printf 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n'; yes '[$filler' | tr y '['" >answer
  $ with_little_memory oobctl status
  Error: The agent's answer has more than 8 MiB: ask for less, such as with --limit.
  [1]

# A listener that says nothing is waited for 15 seconds

  $ reply </dev/null && oobctl list
  Error: The agent did not answer within 15 s; what was asked may have been done.
  [1]

# An answer that is cut off is no success

  $ length="$(http <<<"$status" | wc --bytes)"
  $ for end in 0 10 $((length - ${#status} + 20)) $((length - 1)); do
  >   http <<<"$status" | cut_at "$end"; oobctl status
  > done
  Error: The connection to the agent ended before its answer; what was asked may have been done.
  Error: The connection to the agent ended before its answer; what was asked may have been done.
  Error: The connection to the agent ended before its answer; what was asked may have been done.
  Error: The connection to the agent ended before its answer; what was asked may have been done.
  [1]
  $ http <<<"${status%\}}" | reply && oobctl status
  Error: The answer of the agent, which is oob-agent/9.9.9, could not be read (HTTP status 200): is it of another version? What was asked may have been done.
  [1]

# A decision whose answer is cut off may have been made

  $ http <<<"${request%\}}" | reply && oobctl approve 2f37539c
  Error: The answer of the agent, which is oob-agent/9.9.9, could not be read (HTTP status 200): is it of another version? What was asked may have been done. It is not known whether it was approved. Nothing is decided after <time>; then `oobctl show 2f37539c` knows.
  [11]
  $ for end in 0 10; do
  >   http <<<"$status" | cut_at "$end"; oobctl approve 2f37539c
  > done
  Error: The connection to the agent ended before its answer; what was asked may have been done. It is not known whether it was approved. Nothing is decided after <time>; then `oobctl show 2f37539c` knows.
  Error: The connection to the agent ended before its answer; what was asked may have been done. It is not known whether it was approved. Nothing is decided after <time>; then `oobctl show 2f37539c` knows.
  [11]

# An agent of a newer version is understood as far as it goes

  $ jq '. + {later: {a: 1}}' <<<"$status" | http | reply
  $ diff <(oobctl status --json | jq --sort-keys .) <(jq --sort-keys . <<<"$status")
  $ jq '. + {state: "hibernating"}' <<<"$status" | http | reply && oobctl status
  Error: The answer of the agent, which is oob-agent/9.9.9, could not be read (HTTP status 200): is it of another version? What was asked may have been done.
  [1]
  $ jq '[. + {state: "parked"}]' <<<"$request" | http | reply && oobctl list
  Error: The answer of the agent, which is oob-agent/9.9.9, could not be read (HTTP status 200): is it of another version? What was asked may have been done.
  [1]
  $ jq '. + {delivery: "by pigeon"}' <<<"$request" | http | reply && oobctl approve 2f37539c
  Error: The answer of the agent, which is oob-agent/9.9.9, could not be read (HTTP status 200): is it of another version? What was asked may have been done. It is not known whether it was approved. Nothing is decided after <time>; then `oobctl show 2f37539c` knows.
  [11]
  $ echo '{}' | http | reply && oobctl status
  Error: The answer of the agent, which is oob-agent/9.9.9, could not be read (HTTP status 200): is it of another version? What was asked may have been done.
  [1]
  $ http 409 application/problem+json <<<"$problem" | reply && oobctl approve 2f37539c
  Error: the moon is new
  [1]

# A version that an agent names is shown escaped and shortened

  $ version="$(printf '\u009b31m%s' "${filler//y/xxxxxxxxxx}")"
  $ echo '{}' | http 200 application/json "$version" | reply && oobctl status
  Error: The answer of the agent, which is \u{9B}31mxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, could not be read (HTTP status 200): is it of another version? What was asked may have been done.
  [1]

# Personal data is said to be erased once the agent says so

  $ for erased in '"erased": true' '"erased": false' '"later": 1'; do
  >   echo "{\"id\": \"0123456789abcdef0123\", \"unenrolled\": true, \"wasEnrolled\": true, $erased}" | http | reply
  >   oobctl unenroll kitchen --erase; echo "exit status $?"
  > done
  Unenrolled kitchen.
  Its personal data is erased.
  exit status 0
  Unenrolled kitchen.
  Its personal data is not all erased yet; the agent goes on by itself.
  exit status 75
  Unenrolled kitchen.
  Its personal data is not all erased yet; the agent goes on by itself.
  exit status 75

# Events that are not known are printed, and those that cannot be read end a watch

  $ parked="$(jq --compact-output '{request: (. + {state: "parked"})}' <<<"$request")"
  $ (printf "$stream"; event 18 ', "later": 1'; event 19 ", ${parked:1:-1}") | reply
  $ oobctl watch --json --since 17
  {"at":"<time>","event":"moonrise","seq":18}
  {"error":{"code":20001,"message":"The agent's event could not be read: is it of another version?","name":"core"}}
  [1]

# A watch waits for an agent that goes away again before it answers

  $ in_turn() { echo 'echo >>asked; cat reply$(wc --lines <asked)' >answer; rm --force asked; }
  $ (printf "$stream"; event 18) >reply1
  $ : >reply2
  $ printf "$stream" | head --bytes=12 >reply3
  $ (printf "$stream"; event 19; printf 'data: {\n\n') >reply4
  $ in_turn && oobctl watch --json
  {"at":"<time>","event":"moonrise","seq":18}
  The agent is away; waiting for it.
  {"at":"<time>","event":"moonrise","seq":19}
  {"error":{"code":20001,"message":"The agent's event could not be read: is it of another version?","name":"core"}}
  [1]

# A watch whose output cannot be written ends

  $ printf "$stream" >reply1
  $ (printf "$stream"; event 18) >reply2
  $ in_turn && oobctl watch --json >/dev/full
  The agent is away; waiting for it.
  {"error":{"code":20001,"message":"Standard output cannot be written; what was asked of the agent is done.","name":"core"}}
  [1]

# JSON holds nothing that a terminal obeys or hides

  $ name=$'Bank\x7f\u009b31m\u202e\u200b\U000e0041\u2028 (Dæmø)'
  $ named="$(jq --arg name "$name" '. + {merchantName: $name}' <<<"$request")"
  $ echo "[$named]" | http | reply && oobctl list --json
  [{"acsTransId":"<uuid 1>","delivery":"none","enrollmentId":"<id 1>","id":"<id 2>","issuer":"https://issuer.example","jti":"b1c6","merchantName":"Bank\u007f\u009b31m\u202e\u200b\udb40\udc41\u2028 (Dæmø)","receivedAt":"<time>","state":"pending","warnings":[]}]
  $ http <<<"$named" | reply && oobctl show 2f37539c --json
  {"acsTransId":"<uuid 1>","delivery":"none","enrollmentId":"<id 1>","id":"<id 2>","issuer":"https://issuer.example","jti":"b1c6","merchantName":"Bank\u007f\u009b31m\u202e\u200b\udb40\udc41\u2028 (Dæmø)","receivedAt":"<time>","state":"pending","warnings":[]}
  $ (printf "$stream"; event 18 ", \"request\": $(jq --compact-output . <<<"$named")"; printf 'data: {\n\n') | reply
  $ oobctl watch --since 17 --json
  {"at":"<time>","event":"moonrise","request":{"acsTransId":"<uuid 1>","delivery":"none","enrollmentId":"<id 1>","id":"<id 2>","issuer":"https://issuer.example","jti":"b1c6","merchantName":"Bank\u007f\u009b31m\u202e\u200b\udb40\udc41\u2028 (Dæmø)","receivedAt":"<time>","state":"pending","warnings":[]},"seq":18}
  {"error":{"code":20001,"message":"The agent's event could not be read: is it of another version?","name":"core"}}
  [1]
  $ jq --arg name "$name" '. + {detail: $name}' <<<"$problem" | http 409 application/problem+json | reply
  $ oobctl approve 2f37539c --json
  {"error":{"code":20001,"message":"Bank\u007f\u009b31m\u202e\u200b\udb40\udc41\u2028 (Dæmø)","name":"core"}}
  [1]
  $ http <<<"$named" | reply && [[ "$(oobctl show 2f37539c --json | field .merchantName)" == "$name" ]]

# An exported entry keeps its bytes

  $ printf '{"seq":1,"acsTransId":"\u009b31m"}\n' >entry
  $ http 200 application/x-ndjson <entry | reply
  $ oobctl audit export --host alpha | cmp - entry

# A long line is not broken if no terminal shows it

  $ jq --arg name "$filler" '. + {merchantName: $name, text: "Merchant:   \($name)"}' <<<"$request" | http | reply
  $ oobctl show 2f37539c | grep --count "^Merchant:   $filler$"
  1

# A command that only reads ends without an error when nobody reads on

  $ mkfifo pipe && exec 7<>pipe 8>pipe 7>&-
  $ (printf "$stream"; event 18) | reply && oobctl watch --json --since 17 >&8
  $ echo "[$request]" | http | reply && oobctl list --json >&8
  $ oobctl list >&8
  $ http <<<"$request" | reply && oobctl show 2f37539c >&8
  $ echo '{"seq":1}' | http 200 application/x-ndjson | reply && oobctl audit export --host alpha >&8
  $ http <<<"$status" | reply && oobctl status >&8

# A decision whose return URL reached nobody is told

  $ jq '. + {threeDSRequestorAppURL: "https://merchant.example/"}' <<<"$request" | http | reply
  $ oobctl approve 2f37539c >&8
  Error: Standard output cannot be written; what was asked of the agent is done.
  [1]
