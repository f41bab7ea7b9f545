/// The templates of the reports (Mustache; `{{…}}` is escaped).
enum Templates {
    static let junit = """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="oob-conform {{side}}" tests="{{tests}}" failures="{{failures}}" errors="{{errors}}" \
        skipped="{{skipped}}" time="{{seconds}}">
        {{#sections}}
          <testsuite name="section {{section}}">
        {{#cases}}
            <testcase classname="section {{section}}" name="{{name}}" time="{{seconds}}">
        {{#isFailure}}
              <failure message="{{cause}}">{{leftOut}}{{#exchanges}}{{sent}} {{sentBody}}
        {{received}} {{receivedBody}}
        {{/exchanges}}</failure>
        {{/isFailure}}
        {{#isError}}
              <error message="{{cause}}">{{leftOut}}{{#exchanges}}{{sent}} {{sentBody}}
        {{received}} {{receivedBody}}
        {{/exchanges}}</error>
        {{/isError}}
        {{#isSkipped}}
              <skipped message="{{cause}}"/>
        {{/isSkipped}}
            </testcase>
        {{/cases}}
          </testsuite>
        {{/sections}}
        </testsuites>

        """

    static let html = """
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <title>oob-conform {{side}}: {{summary}}</title>
        <style>
        :root { color-scheme: light dark; }
        body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
        h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
        table { border-collapse: collapse; width: 100%; }
        th, td { border-bottom: 1px solid #8886; padding: .4rem .6rem; text-align: left; vertical-align: top; }
        td:first-child { white-space: nowrap; }
        .passed td:first-child { color: #16703a; } .failed td:first-child, .broken td:first-child { color: #b3261e; }
        .notShown td:first-child, .notRun td:first-child { color: #5f6368; }
        @media (prefers-color-scheme: dark) {
          .passed td:first-child { color: #7bd69a; } .failed td:first-child, .broken td:first-child { color: #ff9d94; }
          .notShown td:first-child, .notRun td:first-child { color: #b0b5ba; }
        }
        pre { background: #8882; margin: .3rem 0 .8rem; overflow-x: auto; padding: .5rem; white-space: pre-wrap;
          word-break: break-all; }
        code { font-size: .9em; } .cause { margin: .2rem 0 0; }
        </style>
        <h1>oob-conform {{side}}: {{#passed}}passed{{/passed}}{{^passed}}not passed{{/passed}}</h1>
        <p><code>{{tested}}</code>. {{summary}}. Seed {{seed}}, {{seconds}} s, oob-conform {{version}}.</p>
        {{#sections}}
        <h2>Section {{section}}</h2>
        <table>
        <tr><th>Result</th><th>Case</th><th>Level</th></tr>
        {{#cases}}
        <tr class="{{class}}"><td>{{verdict}}</td><td>{{title}} <code>({{name}})</code>
        {{#cause}}<p class="cause">{{cause}}</p>{{/cause}}
        {{#hasExchanges}}<details><summary>What was sent and received</summary>
        {{#leftOut}}<p>{{leftOut}}</p>{{/leftOut}}
        {{#exchanges}}<pre>{{sent}}
        {{sentBody}}

        {{received}} ({{milliseconds}} ms)
        {{receivedBody}}</pre>
        {{/exchanges}}</details>{{/hasExchanges}}</td><td>{{level}}</td></tr>
        {{/cases}}
        </table>
        {{/sections}}
        </html>

        """
}
